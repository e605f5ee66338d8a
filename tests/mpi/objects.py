# mpi4py brings the MPI library in by itself, and receives with MPI_Mprobe and MPI_Mrecv.
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
next_rank = (comm.rank + 1) % comm.size
for i in range(5):
    request = comm.isend({"round": i, "from": comm.rank}, dest=next_rank)
    got = comm.recv()
    request.wait()
    total = comm.allreduce(got["round"])
sys.stdout.write(f"{comm.rank} {got} {total}\n")  # in one piece
