# mpi4py brings the MPI library in by itself, and receives with MPI_Mprobe and MPI_Mrecv.
from mpi4py import MPI

comm = MPI.COMM_WORLD
next_rank = (comm.rank + 1) % comm.size
for i in range(5):
    request = comm.isend({"round": i, "from": comm.rank}, dest=next_rank)
    got = comm.recv()
    request.wait()
    total = comm.allreduce(got["round"])
print(comm.rank, got, total)
