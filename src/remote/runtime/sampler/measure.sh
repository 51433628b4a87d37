# Measures the jobs in $jobs, each "job <number> <pid> <start> <key> [<key> <MB> <GPU MB> <CPU ms>]" with the last peak of its slot.
# Prints one line for each: "<key> <MB> <GPU MB> <CPU ms>", the most so far, with - for what is unknown, or - alone.

# Its own start is the only time that it knows in ticks: in some containers, the uptime does not begin with the kernel.
measure() {
  # One process for all: awk reads the files by getline, because some end in the meantime, and mawk exits for a missing argument.
  printf '%s%s' "$jobs" "$cards" |
    awk -v proc="$proc" -v groups="$groups" -v page_bytes="$page_bytes" -v ticks="$ticks" \
      -v now=$((born + (now - born_at) * ticks / 100)) "$program" "$proc"/[0-9]*/stat
}

groups=/sys/fs/cgroup

# Sets $cards, at most every ten seconds, to "card <uuid> <pid> <MB>" per process on a card. Asking can take a second, or hang.
ask_cards() {
  cards=
  [ -n "$wants_cards" ] || return 0
  [ -z "$asked_at" ] || [ $((now - asked_at)) -ge 1000 ] || return 0
  asked_at=$now
  command -v nvidia-smi >/dev/null && command -v timeout >/dev/null || return 0
  cards=$(timeout 5 nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits |
    sed -n 's/^\([^, ]*\), *\([0-9][0-9]*\), *\([0-9][0-9]*\)$/card \1 \2 \3/p')
}

# A job leads its session, or a group in its slot's session. A process that left both is found by its parents.
program='
BEGIN { for (i = 1; i < ARGC; i++) files[i] = ARGV[i]; count = ARGC - 1; ARGC = 1 }
$1 == "job" {
  n = $2; total = n; leader[$3] = n; pid_of[n] = $3; start[n] = $4; key[n] = $5
  mb[n] = gpu[n] = ms[n] = "-"
  if ($6 == $5) { mb[n] = $7; gpu[n] = $8; ms[n] = $9 }
}
$1 == "card" { card_pid[++cards] = $3; card[cards] = $2; card_mb[cards] = $4 }
END {
  for (i = 1; i <= count; i++) read_stat(files[i])
  for (pid in parent) if ((n = owner(pid)) && is_old[n]) add(pid, n)
  for (i = 1; i <= cards; i++) if ((n = owner(card_pid[i])) && is_old[n]) {
    used = on_card[n, card[i]] += card_mb[i]
    gpu[n] = most(gpu[n], used)
  }
  for (n = 1; n <= total; n++) print_peak(n)
}
# The name of a process may contain blanks and brackets. Words after its last bracket: 2 parent, 3 group, 4 session, 12 to 15 CPU time
# with that of ended children, 20 start, 22 resident pages.
function read_stat(file,  line, at, words, pid) {
  if ((getline line < file) <= 0) { close(file); return }
  close(file)
  while (at = index(line, ") ")) line = substr(line, at + 2)
  if (split(line, words, " ") < 22 || words[1] == "Z") return
  pid = file
  sub("/stat$", "", pid)
  sub(".*/", "", pid)
  parent[pid] = words[2]; group[pid] = words[3]; session[pid] = words[4]
  cpu[pid] = words[12] + words[13] + words[14] + words[15]
  pages[pid] = words[22]
  if (!(pid in leader)) return
  n = leader[pid]
  is_there[n] = words[20] == start[n]
  # A job that just began shows what starting takes, not what it needs.
  is_old[n] = is_there[n] && now - start[n] >= ticks
}
function owner(pid) {
  if (pid in owned) return owned[pid]
  owned[pid] = 0
  if (pid in leader) owned[pid] = leader[pid]
  else if (session[pid] in leader) owned[pid] = leader[session[pid]]
  else if (group[pid] in leader) owned[pid] = leader[group[pid]]
  else if (pid in parent) owned[pid] = owner(parent[pid])
  return owned[pid]
}
function add(pid, n,  high) {
  bytes[n] += pages[pid] * page_bytes
  spent[n] += cpu[pid]
  # One process had this much between two looks.
  high = field(proc "/" pid "/status", "VmHWM:") * 1024
  if (high > highest[n]) highest[n] = high
}
function field(file, name,  line, words) {
  while ((getline line < file) > 0) if (split(line, words, " ") > 1 && words[1] == name) break
  close(file)
  return words[1] == name ? words[2] : 0
}
function print_peak(n,  own) {
  if (is_old[n]) {
    own = of_group(pid_of[n])
    mb[n] = most(mb[n], (own ? own : most(bytes[n], highest[n])) / 1048576)
    ms[n] = most(ms[n], spent[n] * 1000 / ticks)
  }
  if (mb[n] == "-" && gpu[n] == "-") print "-"
  else print key[n], mb[n], gpu[n], ms[n]
}
# The peak of the control group of a job, in bytes; 0: it has none of its own. Version 2 is in the line 0::, version 1 in :memory:.
function of_group(pid,  path, peak) {
  path = group_path(pid)
  if (path == "" || path == group_path(parent[pid])) return 0
  peak = first_line(path "/memory.peak")
  if (!peak) peak = first_line(path "/memory.max_usage_in_bytes")
  return peak ? peak : first_line(path "/memory.current")
}
function group_path(pid,  file, line, path) {
  file = proc "/" pid "/cgroup"
  path = ""
  while ((getline line < file) > 0) {
    if (line ~ /^[0-9]*:([^:]*,)?memory(,[^:]*)?:/) { sub(/^[^:]*:[^:]*:/, "", line); path = groups "/memory" line; break }
    if (line ~ /^0::/) path = groups substr(line, 4)
  }
  close(file)
  return path
}
function first_line(file,  line) {
  line = 0
  if ((getline line < file) <= 0) line = 0
  close(file)
  return line + 0
}
function most(before, now) {
  now = int(now + 0.999)
  return before == "-" || now > before + 0 ? now : before
}
'
