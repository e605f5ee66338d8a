# Lines of check to a table: build kernel way samples hit wrong elsewhere unresolved gathers shares verdict
NF < 11 { next }
{
	row = $1 " | " $2
	if (!(row in seen)) {
		seen[row] = 1
		rows[++count] = row
	}
	if ($11 == "few" || $11 == "gathers") {
		cell[row, $3] = "- | -"
		next
	}
	cell[row, $3] = $5 " | " $6
	if ($3 == "perf") {
		shares[row] = $10
		sub(/\/$/, "", shares[row])
	}
	n[$3]++
	hit[$3, n[$3]] = $5
	if ($6 + 0 > worst[$3])
		worst[$3] = $6
	if ($11 != "ok")
		bad[$3]++
}

function median(way, k,    i, j, t) {
	k = n[way]
	for (i = 2; i <= k; i++) {
		t = hit[way, i]
		for (j = i - 1; j > 0 && hit[way, j] + 0 > t + 0; j--)
			hit[way, j + 1] = hit[way, j]
		hit[way, j + 1] = t
	}
	return hit[way, int((k + 1) / 2)]
}

END {
	split("perf timer heads steps", ways, " ")
	print "| way | lines | least hit | median hit | most wrong | below the limits (hit 90, wrong 2, fair shares) |"
	print "|---|---|---|---|---|---|"
	for (w = 1; w <= 4; w++) {
		m = median(ways[w])
		printf "| %s | %d | %s | %s | %.1f | %d |\n", ways[w], n[ways[w]], hit[ways[w], 1], m, worst[ways[w]], bad[ways[w]]
	}
	print ""
	print "| build | kernel | perf hit | wrong | timer hit | wrong | heads hit | wrong | steps hit | wrong | shares |"
	print "|---|---|---|---|---|---|---|---|---|---|---|"
	for (r = 1; r <= count; r++) {
		printf "| %s", rows[r]
		for (w = 1; w <= 4; w++)
			printf " | %s", (rows[r], ways[w]) in cell ? cell[rows[r], ways[w]] : "- | -"
		printf " | %s |\n", shares[rows[r]]
	}
}
