
root=${1%/batches/*}
cd "$1" || exit 1
. ./own.sh
. ./lib.sh
me=$base/sampler@$host
cd "$base" || exit 1

line='' born='' born_at='' looked_at='' asked_at=''
is_woken='' sleeper=''
page_bytes=$(getconf PAGESIZE 2>/dev/null) || page_bytes=4096
ticks=$(getconf CLK_TCK 2>/dev/null) || ticks=100


measure() {
  printf '%s%s' "$jobs" "$cards" |
    awk -v proc="$proc" -v groups="$groups" -v page_bytes="$page_bytes" -v ticks="$ticks" \
      -v now=$((born + (now - born_at) * ticks / 100)) "$program" "$proc"/[0-9]*/stat
}

groups=/sys/fs/cgroup

ask_cards() {
  cards=
  [ -n "$wants_cards" ] || return 0
  [ -z "$asked_at" ] || [ $((now - asked_at)) -ge 1000 ] || return 0
  asked_at=$now
  command -v nvidia-smi >/dev/null && command -v timeout >/dev/null || return 0
  cards=$(timeout 5 nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits |
    sed -n 's/^\([^, ]*\), *\([0-9][0-9]*\), *\([0-9][0-9]*\)$/card \1 \2 \3/p')
}

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


main() {
  trap 'is_woken=yes; [ -z "$sleeper" ] || kill -KILL "$sleeper"' USR1
  with_lock "$lock" become_the_sampler || exit 0
  exec 2>/dev/null
  is_needed || exit 0
  while nap && is_needed; do look; done
}

become_the_sampler() {
  is_dead "$me" || return 1
  start_of $$
  uptime_now
  line="$$ $started $here" born=$started born_at=$now looked_at=$now
  echo "$line" >"$me"
}

is_needed() {
  read -r holder _ <"$me" && [ "$holder" = $$ ] || return 1
  has_keeper || ! with_lock "$lock" leave
}

leave() {
  rm -f "$me"
  has_keeper || return 0
  echo "$line" >"$me"
  return 1
}

has_keeper() {
  for keeper in "$base"/batches/*/slots/*/keeper; do
    [ -s "$keeper" ] && [ -O "${keeper%/keeper}" ] && is_live "$keeper" && return 0
  done
  return 1
}

nap() {
  sleep 2 &
  sleeper=$!
  [ -z "$is_woken" ] || kill -KILL "$sleeper"
  wait "$sleeper"
  sleeper='' is_woken=''
}

look() {
  uptime_now
  [ $((now - looked_at)) -ge 190 ] || return 0
  looked_at=$now
  set --
  jobs='' wants_cards=''
  for slot in "$base"/batches/*/slots/*; do
    [ -s "$slot/job" ] && [ -O "$slot" ] && is_live "$slot/job" && [ -n "$live_job" ] || continue
    set -- "$@" "$slot"
    peak=
    read -r peak <"$slot/peak"
    jobs="${jobs}job $# $live_pid $live_start $live_job $peak
"
    ! has_cards "$slot/claim" || wants_cards=yes
  done
  [ $# != 0 ] || return 0
  ask_cards
  measure | keep_peaks "$@"
}

has_cards() {
  read -r _ _ card_mb _ _ _ cards <"$1"
  [ "${card_mb:-0}" != 0 ] || [ "${cards:--}" != - ]
}

keep_peaks() {
  for slot; do
    IFS= read -r peak || return
    [ "$peak" = - ] || echo "$peak" >"$slot/peak"
  done
}

main
