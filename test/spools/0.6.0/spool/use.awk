
/^\// {
  for (lines = 0; lines < 100 && (getline line < $0) > 0; lines++)
    if (split(line, words, " ") == 4 && words[1] == "by" && words[4] ~ /^[0-9]+$/) sum[words[4]] = 0
  close($0)
  next
}

{
  pid = $1
  sub(/^.*\) /, "")
  parent[pid] = $2
  pages[pid] = $22
}

END {
  for (pid in pages) {
    at = pid
    steps = 0
    while (at > 1 && !(at in sum) && steps++ < 100) at = parent[at]
    if (at in sum && at != pid) sum[at] += pages[pid]
  }
  for (at in sum) if (sum[at] > 0) print "used", at, int(sum[at] * page_kb / 1024)
}
