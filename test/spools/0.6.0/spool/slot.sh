

slot=$2 mine=slots/$2 root=${1%/batches/*}
is_revived=${3-}
cd "$1" || exit 1
spool=$PWD
. ./own.sh
. ./lib.sh
. ./settings
export SSHOAL_SLOT="$slot"
shell='sh'
! command -v bash >/dev/null || shell=bash
nobody=2147483647
newline='
'

dir='' key='' attempt=''
tree='' runs_in_place='' tree_has_directories='' tree_is_large='' needs_own_shell='' named=''
job='' watchdog='' output_watch='' begun='' is_put_back=''
is_new='' is_unwritten='' is_leaving=''
said=''
keeper='' keeper_line='' ancestors=''
facts=''
copied='' find_tells=''
untold=''

trap '' INT QUIT


become_the_loop() {
  is_dead "$mine/loop" || return 1
  is_new=yes
  [ -z "$is_revived" ] || is_new=
  for trace in loop job keeper; do
    [ ! -s "$mine/$trace" ] || is_new=
  done
  [ -z "$is_new" ] || empty_claim
  start_of $$
  is_unwritten=
  echo "$$ $started $here" >"$mine/loop" || { is_unwritten=yes && return 1; }
  [ -n "$is_new" ] || return 0
  [ ! -e "$mine/copied" ] || note_copied ''
  has_work
}

has_work() {
  is_in_place || return 1
  if [ -z "$is_leaving" ] || ! is_live scout; then
    for each in jobs/*; do
      ! is_waiting "$each" || return 0
    done
  fi
  for trace in loop job keeper; do
    true >"$mine/$trace"
  done
  say "idle $slot"
  return 1
}

is_waiting() {
  [ -e "$1/command" ] && [ ! -e drain ] && [ ! -e "$1/claim" ]
}

choose_job() {
  dir=$1 key=${1#jobs/}
  attempt=$batch/$key.
}

is_in_place() {
  [ . -ef "$spool" ]
}

have_it_kept() {
  is_leaving=
  run_keeper
  case $? in
    0) ;;
    "$leaves") is_leaving=yes ;;
    *) recover ;;
  esac
}

leaves=3

run_keeper() {
  keep </dev/null &
  wait $!
}


recover() {
  ! is_dead "$mine/keeper" || end_torn_line
  last=
  { read -r _ _ _ last <"$mine/job"; } 2>/dev/null
  see_to_begun
  if is_kept; then
    while is_kept; do sleep 1; done
    see_to_begun
  fi
  choose_job "jobs/$last"
  [ ! -s "$dir/exit" ] || tell_end
  empty_claim
  note_copied ''
}

see_to_begun() {
  for each in jobs/*; do
    [ -e "$each/claim" ] && [ ! -s "$each/exit" ] || continue
    choose_job "$each"
    who='' taker=''
    read -r who taker <"$dir/claim"
    case $who in
      slot) [ "$taker" = "$slot" ] && see_to_end named ;;
      '') is_shared || { sleep 1 && with_lock "$lock" take_over && sleep 1 && is_taken_over && see_to_end nameless; } ;;
    esac
  done
}

is_kept() {
  [ -s "$mine/keeper" ] && { ! is_dead "$mine/keeper" || { sleep 0.1 && ! is_dead "$mine/keeper"; }; }
}

take_over() {
  [ -e "$dir/claim" ] && [ ! -s "$dir/claim" ] && echo "slot $slot" >"$dir/claim"
}

is_taken_over() {
  read -r claimed <"$dir/claim" && [ "$claimed" = "slot $slot" ]
}

see_to_end() {
  took=0 is_seen='' facts=''
  while [ ! -s "$dir/exit" ] && is_under_way "$1"; do is_seen=yes && sleep 1; done
  [ -z "$is_seen" ] || find_age
  if [ -s "$dir/exit" ]; then
    tell_end
    return
  fi
  [ "$live_job" = "$key" ] || live_pid=$nobody
  [ -z "$(marked "$attempt")" ] || end_tree "$live_pid" "$attempt"
  end_watch
  owner=
  { read -r _ _ _ owner <"$mine/keeper"; } 2>/dev/null
  read_last_word
  wind_up "${code:-lost}" "$took" "$owner"
  tell
}

find_age() {
  begun=$(sed -n "s/^started $key $slot \([0-9]*\) ${boot_id%%-*}\( .*\)\{0,1\}\$/\1/p" "$mine/events")
  uptime_now
  [ -z "$begun" ] || took=$((now - begun))0
}

read_last_word() {
  code='' whose=''
  { read -r whose code _ <"$mine/code"; } 2>/dev/null && [ "$whose" = "$attempt" ] || code=
  case $code in 129 | 130 | 137 | 143) code= ;; esac
}

is_under_way() {
  ! is_dead "$mine/keeper" && { [ "$live_job" = "$key" ] || [ "$1" = named ]; } && return 0
  is_running "$key"
  [ $? = 1 ] || return 0
  [ "$live_job" != "$key" ] && [ -n "$(marked "$attempt")" ]
}

tell_end() {
  read -r code <"$dir/exit"
  grep -qs "^ended $key " "$mine/events" || say "ended $key $slot $code 0"
}


each_cgroup() {
  [ -r "$proc/self/cgroup" ] || return
  while IFS=: read -r _ names own; do
    case ,$names, in
      ,,)
        each_level 2 "$sys/fs/cgroup" "$own" "$2"
        each_level 2 "$sys/fs/cgroup/unified" "$own" "$2"
        ;;
      *,"$1",*) each_level 1 "$sys/fs/cgroup/$1" "$own" "$2" ;;
    esac
  done <"$proc/self/cgroup"
}

each_level() {
  path=${3%/}
  case $path in /..* | [!/]*) path= ;; esac
  while :; do
    "$4" "$1" "$2$path"
    [ -n "$path" ] || break
    path=${path%/*}
  done
}


busy_cores=- load_at=-10 last_all=0 last_idle=0
allowed_cores='' quota_looks='' last_looks=''

measure_load() {
  case $all_cores in '' | -) return 0 ;; esac
  uptime_now
  elapsed=$((now - load_at))
  [ "$elapsed" -ge 10 ] || return 0
  read -r _ user nice system idle iowait irq softirq steal _ <"$proc/stat"
  idle=$((idle + iowait))
  all=$((user + nice + system + idle + irq + softirq + ${steal:-0}))
  ticks=$((all - last_all)) idle_ticks=$((idle - last_idle))
  [ -n "$quota_looks" ] || [ "$last_all" != 0 ] || each_cgroup cpu heed_quota
  if [ "$last_all" != 0 ] && [ "$ticks" -gt 0 ]; then
    idle_cores=$((idle_ticks * ${allowed_cores:-$all_cores} / ticks))
    [ -z "$quota_looks" ] || look_at_quotas
    busy_cores=$((all_cores - idle_cores))
    [ "$busy_cores" -ge 0 ] || busy_cores=0
  fi
  load_at=$now last_all=$all last_idle=$idle
}

look_at_quotas() {
  last_looks=$quota_looks$newline quota_looks=
  each_cgroup cpu heed_quota
  [ "$idle_cores" -ge 0 ] || idle_cores=0
}

heed_quota() {
  used_us=
  if [ "$1" = 2 ]; then
    { read -r quota period <"$2/cpu.max" && read -r _ used_us <"$2/cpu.stat"; } 2>/dev/null || return 0
  else
    { read -r quota <"$2/cpu.cfs_quota_us" && read -r period <"$2/cpu.cfs_period_us"; } 2>/dev/null || return 0
    { read -r used_us <"$2/cpuacct.usage" || read -r used_us <"$sys/fs/cgroup/cpuacct${2#"$sys/fs/cgroup/cpu"}/cpuacct.usage"; } 2>/dev/null
    [ -z "$used_us" ] || used_us=$((used_us / 1000))
  fi
  case $quota$period in '' | *[!0-9]*) return 0 ;; esac
  [ "$period" -gt 0 ] || return 0
  [ -n "$allowed_cores" ] || count_allowed
  quota_looks="$quota_looks$newline$2 $used_us"
  case $last_looks in
    *"$newline$2 "*) lower_idle "$2" ;;
  esac
}

lower_idle() {
  used_before=${last_looks#*"$newline$1 "}
  used_before=${used_before%%"$newline"*}
  quota=$((quota * 1000 / period))
  if [ -n "$used_us" ] && [ -n "$used_before" ]; then
    quota=$((quota - (used_us - used_before) / (elapsed * 10)))
  else
    quota=$((quota * idle_ticks / ticks))
  fi
  [ "$quota" -ge "$idle_cores" ] || idle_cores=$quota
}

count_allowed() {
  while read -r name list; do [ "$name" != Cpus_allowed_list: ] || break; done <"$proc/self/status"
  allowed_cores=0
  for range in $(IFS=, && printf '%s ' $list); do
    allowed_cores=$((allowed_cores + (${range#*-} - ${range%-*} + 1) * 1000))
  done
  [ "$allowed_cores" != 0 ] || allowed_cores=$all_cores
}


sys=/sys
no_limit=999999999999
room_lines='' room_batch='' all_cores='' keep_mb=0 most_slots=0
politely=''
measured_facts=''

read_room() {
  room_lines=
  while read -r word words; do
    case $word in
      cpu) all_cores=${words% *} busy_cores=${words#* } ;;
      slots) most_slots=$words ;;
      keep) keep_mb=${words%% *} ;;
      rule) [ "$words" != polite ] || ! command -v nice >/dev/null 2>&1 || politely='nice' ;;
      batch) room_batch=$words words="$words -" ;;
    esac
    case $word in
      cpu | slots) ;;
      *) room_lines="$room_lines$word $words$newline" ;;
    esac
  done <room
  measure_load
}

measure() {
  measure_memory
  measure_load
  measure_cards
  measured_facts="mem $free_mb
cpu $all_cores $busy_cores
$card_lines"
}

measure_memory() {
  total_kb='' available_kb='' free_kb=0 shared_kb=0
  while read -r name kb _; do
    case $name in
      MemTotal:) total_kb=$kb ;;
      MemAvailable:) available_kb=$kb && break ;;
      MemFree: | Buffers: | Cached: | SReclaimable:) free_kb=$((free_kb + kb)) ;;
      Shmem:) shared_kb=$kb ;;
    esac
  done <"$proc/meminfo"
  left_kb=${available_kb:-$((free_kb - shared_kb))}
  [ "${total_kb:-0}" != 0 ] || left_kb=$no_limit
  each_cgroup memory heed_limit
  free_mb=$((left_kb / 1024))
  [ "$left_kb" != "$no_limit" ] || free_mb=-
}

heed_limit() {
  if [ "$1" = 2 ]; then
    set -- "$2" memory.max memory.current inactive_file
  else
    set -- "$2" memory.limit_in_bytes memory.usage_in_bytes total_inactive_file
  fi
  { read -r memory_limit <"$1/$2"; } 2>/dev/null && [ "$memory_limit" != max ] || return 0
  [ ${#memory_limit} -le 16 ] && { read -r current <"$1/$3"; } 2>/dev/null || return 0
  inactive=0
  while read -r name bytes; do
    [ "$name" != "$4" ] || { inactive=$bytes && break; }
  done 2>/dev/null <"$1/memory.stat"
  limit_kb=$(((memory_limit - current + inactive) / 1024))
  [ "$limit_kb" -ge "$left_kb" ] || left_kb=$limit_kb
  [ "$left_kb" -ge 0 ] || left_kb=0
}


card_lines=''

measure_cards() {
  card_lines=$room_lines
  case $room_lines in *"${newline}card "*) ;; *) return 0 ;; esac
  case $needs in *"${newline}cards "*) ;; *) return 0 ;; esac
  answer_file=$common/.cards
  is_recent || with_lock "$common/.cards.lock" ask_driver
  is_recent || answer_file=/dev/null
  card_lines=$(LC_ALL=C awk -f cards.awk room "$answer_file" 4<&-)
}

is_recent() {
  uptime_now
  asked_at='' came_at='' asked_boot=''
  { read -r asked_at came_at asked_boot <"$answer_file"; } 2>/dev/null || return 1
  [ "$asked_boot" = "$boot_id" ] && [ $((now - came_at)) -lt 200 ] && [ "$now" -ge "$came_at" ] && [ "$asked_at" -ge "$freed_at" ]
}

ask_driver() {
  ! is_recent || return 0
  asked_at=$now
  driver_answer=$(sh cards.sh 2>/dev/null 4<&-)
  uptime_now
  { printf '%s\n' "$asked_at $now $boot_id" "$driver_answer" >"$answer_file.new"; } 2>/dev/null && mv "$answer_file.new" "$answer_file"
}


lock_dir=${SSHOAL_CLAIMS:-/dev/shm}
[ -d "$lock_dir" ] || lock_dir=/tmp
is_unlocked=''

open_locks() {
  open_lock "$lock"
  is_open=
  ! has_flock || ! { command exec 3<"$lock_dir"; } 2>/dev/null || is_open=yes
}

take_locks() {
  take_lock
  if ! has_flock; then
    go_unlocked 'there is no flock on the machine, so jobs of several accounts may start at the same moment'
  elif [ -z "$is_open" ] || { ! flock -n 3 && ! wait_for_lock; }; then
    tell_holder
  fi
}

free_locks() {
  exec 3<&-
  free_lock
}

wait_for_lock() {
  uptime_now
  stuck_at=
  { read -r stuck_at <"$common/.stuck"; } 2>/dev/null
  case ${stuck_at:--} in *[!0-9]*) ;; *) [ "$now" -lt "$stuck_at" ] || [ $((now - stuck_at)) -ge 6000 ] || return 1 ;; esac
  deadline=$((now + 500))
  flock -w 5 3 2>/dev/null && return 0
  until flock -n 3; do
    uptime_now
    [ "$now" -lt "$deadline" ] || { { echo "$now" >"$common/.stuck"; } 2>/dev/null; return 1; }
    sleep 0.05
  done
}

tell_holder() {
  [ -z "$is_unlocked" ] || return 0
  holder=
  file_id=$(stat -c '%d %i' "$lock_dir" 2>/dev/null) && find_holder
  go_unlocked "jobs start without the lock on $lock_dir$holder"
}

find_holder() {
  device=${file_id% *}
  major=$((device >> 8 & 0xfff)) minor=$((device & 0xff | device >> 12 & 0xfff00))
  file_id=$(printf '%02x:%02x:%s' "$major" "$minor" "${file_id#* }")
  holder=$(sed -n "s/^[0-9]*: FLOCK .* \\([0-9][0-9]*\\) $file_id .*/\\1/p" "$proc/locks" 2>/dev/null)
  holder=${holder%%"$newline"*}
  [ -d "$proc/${holder:-none}" ] || { holder= && return 0; }
  holder=", which the process $holder of $(ls -ld "$proc/$holder" 2>/dev/null | { read -r _ _ owner _ && echo "$owner"; }) has"
}

go_unlocked() {
  [ -n "$is_unlocked" ] || warn "$1"
  is_unlocked=yes
}


read_claim() {
  { read -r memory cpus gpu_memory gpu_use gpu machine cards _ <"$1"; } 2>/dev/null || return 1
  is_amount "$memory" && is_amount "$gpu_memory" && is_fraction "$cpus" && is_fraction "$gpu_use" || return 1
  case $gpu$machine in [01][01]) ;; *) return 1 ;; esac
  cards=${cards:--}
}

is_amount() {
  case $1 in '' | *[!0-9]* | 0?* | ??????????*) return 1 ;; esac
}

is_fraction() {
  case $1 in '' | *[!0-9.]* | .* | *. | *.*.* | ????????????????*) return 1 ;; esac
}


claims_root=${SSHOAL_CLAIMS:-/tmp} claim_file='' common=''
freed_at=0 freed=''
labelled=''

open_claim() {
  find_uid
  open_claim_file || open_claim_file || claim_file=
  case $claim_file in
    '' | "$base"/*) warn "no claim can be written in $claims_root: other accounts do not see what jobs use" ;;
  esac
}

find_uid() {
  while read -r field _ uid _; do [ "$field" != Uid: ] || break; done <"$proc/self/status"
}

find_claim_dir() {
  for claim_dir in "$claims_root/.sshoal-claims-$uid" "$claims_root/.sshoal-claims-$uid.1" \
    "$claims_root/.sshoal-claims-$uid.2" "$base/claims@$host"; do
    [ -d "$claim_dir" ] || mkdir -m 755 "$claim_dir" 2>/dev/null
    is_closed "$claim_dir" && [ -w "$claim_dir" ] && return 0
  done
  claim_dir=
}

open_claim_file() {
  find_claim_dir
  common=${claim_dir:-$spool} claim_file=$claim_dir/${spool##*/}.$slot
  [ -n "$claim_dir" ] || return 1
  (umask 022 && true >>"$claim_file") 2>/dev/null && { command exec 4<"$claim_file"; } 2>/dev/null || return 1
  ! has_flock || lock_claim
}

lock_claim() {
  tries=0
  until flock -s -n 4 || [ "$tries" -ge 20 ]; do
    sleep 0.05
    tries=$((tries + 1))
  done
  return 0
}

hold() {
  [ -z "$claim_file" ] || [ "$claim_file" -ef "$proc/self/fd/4" ] || open_claim_file || claim_file=
  label_claim "$chosen"
  if [ -n "$claim_file" ] && ! { printf '%s\n' "$text" >"$claim_file"; } 2>/dev/null; then
    true >"$claim_file"
    return 1
  fi
  { printf '%s\n' "$text" >"$mine/claim"; } 2>/dev/null || true >"$mine/claim"
}

label_claim() {
  labelled=$1
  label=${1%-*}
  label=0000000000${label##*-}
  label=${label#"${label%??????????}"}
  text="$claim
by $room_batch $label $$
${given_lines}end"
}

relabel() {
  [ "$key" != "$labelled" ] || return 0
  label_claim "$key"
  [ ! -s "${claim_file:-/dev/null}" ] || { printf '%s\n' "$text" 1<>"$claim_file"; } 2>/dev/null
}

release() {
  [ -n "$held" ] || return 0
  held=
  empty_claim
}

empty_claim() {
  [ -s "$mine/claim" ] || [ -s "${claim_file:-/dev/null}" ] || return 0
  [ -z "$claim_file" ] || true >"$claim_file"
  true >"$mine/claim"
  uptime_now
  { echo "$now $boot_id $$" >"$common/.freed"; } 2>/dev/null
}

look_at_freed() {
  freed_at=0 freed_boot='' freed=''
  { read -r freed_at freed_boot freed <"$common/.freed"; } 2>/dev/null
  freed="$freed_at $freed_boot $freed"
  [ "$freed_boot" = "$boot_id" ] || freed_at=0
}


claims='' dead=''
old_claims='' used=''
own_dirs='' owners=''
found=''
seen_dirs='' known_dirs='' other_dirs=''
own_names='' private_dirs=''
time_limit=''

find_dirs() {
  see_own_dirs
  own_dirs=' '
  for each_dir in "$claims_root/.sshoal-claims-$uid" "$claims_root/.sshoal-claims-$uid.1" "$claims_root/.sshoal-claims-$uid.2" \
    "$base/claims@$host"; do
    own_dirs="$own_dirs$each_dir=- "
  done
  see_dirs
  known_dirs=$seen_dirs other_dirs=''
  [ -z "$seen_dirs" ] || other_dirs=$(print_named_right $seen_dirs)
  find_others
}

see_own_dirs() {
  set --
  for each_dir in "$claims_root/.sshoal-claims-$uid" "$claims_root/.sshoal-claims-$uid.1" "$claims_root/.sshoal-claims-$uid.2" \
    "$base/claims@$host"; do
    ! is_own "$each_dir" || set -- "$@" "$each_dir"
  done
  [ "$*" != "$own_names" ] || return 0
  own_names=$*
  private_dirs=$(for each_dir; do ! is_closed "$each_dir" || printf '%s ' "${each_dir##*/}"; done)
}

is_closed() {
  is_own "$1" && case $(ls -ld "$1" 2>/dev/null 3<&- 4<&- 9<&-) in d????-??-*) ;; *) return 1 ;; esac
}

see_dirs() {
  seen_dirs=''
  has_flock || return 0
  set --
  for each_dir in "$claims_root"/.sshoal-claims-*; do
    case ${each_dir##*/.sshoal-claims-} in *[!0-9.]*) continue ;; esac
    [ ! -d "$each_dir" ] || [ -L "$each_dir" ] || [ -O "$each_dir" ] || set -- "$@" "$each_dir"
  done
  seen_dirs=$*
}

print_named_right() {
  exec 3<&- 4<&- 9<&-
  printf '%s\0' "$@" | xargs -0 ls -ldn 2>/dev/null | while read -r mode _ owner _ _ _ _ _ path; do
    case $mode in d*) ;; *) continue ;; esac
    case $path in
      "$claims_root/.sshoal-claims-$owner" | "$claims_root/.sshoal-claims-$owner".[12]) printf '%s ' "$path" ;;
    esac
  done
}

list_claims() {
  claims=
  see_own_dirs
  see_dirs
  had_limit=$time_limit
  [ "$seen_dirs" = "$known_dirs" ] || find_dirs
  [ "$had_limit" = "$time_limit" ] || return
  confirm_dead
  for each_dir in "$claims_root/.sshoal-claims-$uid" "$claims_root/.sshoal-claims-$uid.1" "$claims_root/.sshoal-claims-$uid.2" \
    "$base/claims@$host"; do
    case " $private_dirs" in *" ${each_dir##*/} "*) ;; *) continue ;; esac
    is_own "$each_dir" || continue
    for each in "$each_dir"/*@*.*; do add_own; done
  done
  [ -z "$other_dirs" ] || add_others
  list_old_claims
}

add_own() {
  [ -s "$each" ] && [ -f "$each" ] && [ ! -L "$each" ] || return 0
  case ${each##*/} in *[\ "$newline"]*) return 0 ;; esac
  has_flock || ! is_left_over || return 0
  add_claim
}

is_left_over() {
  place=${each##*/}
  place=$base/batches/${place%.*}/slots/${each##*.}
  is_dead "$place/loop" && is_dead "$place/keeper" && is_dead "$place/job"
}

add_claim() {
  [ -n "$claim_file" ] && [ "$each" -ef "$claim_file" ] && return 0
  case $newline$dead$newline in *"$newline$each$newline"*) ;; *) claims="$claims${claims:+$newline}$each" ;; esac
}

find_others() {
  found=
  [ -n "$other_dirs" ] || return 0
  [ -n "$time_limit" ] || ! command -v timeout >/dev/null 2>&1 || time_limit='timeout 10'
  found=$(exec $time_limit find $other_dirs -maxdepth 1 ! -name "*[$newline ]*" -size -9 \
    \( -type d -name '.sshoal-claims-*' -o -type f -name '*@*.*' ! -name '.*' \) 2>/dev/null 3<&- 4<&- 9<&-)
}

add_others() {
  ! has_come || find_others
  counted_dir='' counted_all=0
  for_lines add_other "$found"
}

has_come() {
  for each_dir in $other_dirs; do
    was_found "$each_dir" || return 0
    for each in "$each_dir"/*@*.*; do
      [ ! -s "$each" ] || was_found "$each" || return 0
    done
  done
  return 1
}

was_found() {
  case $newline$found$newline in *"$newline$1$newline"*) ;; *) return 1 ;; esac
}

add_other() {
  case ${each##*/} in .*) return 0 ;; esac
  [ -s "$each" ] && [ -f "$each" ] && [ ! -L "$each" ] || return 0
  [ "${each%/*}" = "$counted_dir" ] || counted_dir=${each%/*} counted=0
  counted=$((counted + 1))
  [ "$counted" -le 100 ] && [ "$counted_all" -lt 1000 ] || return 0
  counted_all=$((counted_all + 1))
  add_claim
}

for_lines() {
  set -f
  IFS=$newline
  set -- "$1" $2
  unset IFS
  set +f
  for_lines_do=$1
  shift
  for each; do "$for_lines_do"; done
}

list_old_claims() {
  old_claims=
  for each_dir in "$base"/batches/*; do
    [ ! -d "$each_dir/needs" ] && [ -O "$each_dir" ] || continue
    for each in "$each_dir"/slots/*; do
      [ -s "$each/claim" ] && is_live "$each/loop" && read_claim "$each/claim" || continue
      place=${each_dir##*/}
      old_claims="$old_claims${newline}old $memory $cpus $gpu_memory $gpu_use $gpu $machine $cards ${place%@*}"
    done
  done
}

has_claims() {
  list_claims
  [ -n "$claims" ]
}


look_closer() {
  [ -n "$claims" ] || return 0
  name_owners
  dead=$(print_dead "$claims")
  page_kb=$(($(getconf PAGESIZE 2>/dev/null || echo 4096) / 1024))
  used=$({ printf '%s\n' "$claims" && cat "$proc"/[0-9]*/stat; } 2>/dev/null 4<&- |
    LC_ALL=C $time_limit awk -v page_kb="$page_kb" -f use.awk 2>/dev/null 4<&-)
}

name_owners() {
  [ -z "$other_dirs" ] || owners=$(ls -ld $other_dirs 2>/dev/null 4<&- | while read -r mode _ owner _ _ _ _ _ path; do
    case $mode in d*) printf '%s=%s ' "$path" "$owner" ;; esac
  done)
}

confirm_dead() {
  [ -n "$dead" ] || return 0
  candidates=$(print_dead "$dead") dead=''
  for_lines confirm_one "$candidates"
}

confirm_one() {
  if is_own "${each%/*}"; then
    is_left_over || return 0
    [ ! -O "$each" ] || true >"$each"
  fi
  dead="$dead${dead:+$newline}$each"
}

print_dead() {
  has_flock || return 0
  printf '%s\n' "$1" | $time_limit sh -c 'while IFS= read -r file; do
    { flock -n 8 && printf "%s\n" "$file"; } 8<"$file"
  done' 2>/dev/null 3<&- 4<&- 9<&-
}


held='' held_mb='' held_cores='' held_machine='' held_rest='' held_at='' looked_at=''
kind='' need_mb='' need_cores='' need_machine='' need_rest='' need_lines=''
chosen='' reasons=''

has_room() {
  find_kind
  if [ -n "$held" ] && is_covered && is_still_free; then
    relabel
    return 0
  fi
  ask_for_room
}

find_kind() {
  new_kind=-
  [ ! -e "$dir/own" ] || read -r new_kind <"$dir/own"
  [ "$new_kind" = "$kind" ] || read_need "$new_kind"
}

read_need() {
  kind=$1 need_mb='' need_cores='' need_machine='' need_rest='' need_lines=''
  [ -e "needs/$1" ] || return 0
  while read -r word _ words; do
    case $word in
      need) split_need "$words" ;;
      *) need_rest="$need_rest$word $words$newline" need_lines="$need_lines$newline$word $1 $words" ;;
    esac
  done <"needs/$1"
}

split_need() {
  need_mb=${1%% *} need_machine=${1##* } need_cores=${1#* }
  need_cores=${need_cores%% *}
}

is_covered() {
  [ -n "$need_mb" ] && [ "$need_rest" = "$held_rest" ] && [ "$need_machine" = "$held_machine" ] &&
    [ "$need_mb" -le "$held_mb" ] && [ "$need_cores" -le "$held_cores" ]
}

is_still_free() {
  uptime_now
  most_age=1000
  [ -z "$given_cards" ] || most_age=200
  [ $((now - held_at)) -lt "$most_age" ] && [ -s "${claim_file:-$mine/claim}" ] || return 1
  [ $((now - looked_at)) -ge 100 ] || return 0
  looked_at=$now
  measure_memory
  [ "$free_mb" != - ] && [ $((free_mb - keep_mb)) -ge "$need_mb" ]
}

ask_for_room() {
  tell
  look_at_freed
  find_dirs
  used='' dead='' needs="need $key $kind $need_mb $need_cores $need_machine$need_lines"
  measure
  allot
  if [ -z "$chosen" ] && { has_claims || has_kinds; }; then
    look_closer
    gather_needs
    measure
    allot
  fi
  [ -n "$chosen" ] || { release; return 1; }
  if [ "$chosen" != "$key" ]; then
    choose_job "jobs/$chosen"
    find_kind
  fi
  held=new held_mb=$need_mb held_cores=$need_cores held_machine=$need_machine held_rest=$need_rest
  uptime_now
  held_at=$now looked_at=$now
  set_devices
}

has_kinds() {
  set -- needs/*
  [ $# -gt 1 ]
}

gather_needs() {
  set -- needs/*
  missing=$# seen=' ' first=$dir needs=
  for dir in jobs/*; do
    is_waiting "$dir" || continue
    find_kind
    case $seen in *" $kind "*) continue ;; esac
    seen="$seen$kind " missing=$((missing - 1))
    needs="$needs${needs:+$newline}need ${dir#jobs/} $kind $need_mb $need_cores $need_machine$need_lines"
    [ "$missing" -gt 0 ] || break
  done
  dir=$first
  find_kind
}

allot() {
  for try in 1 2; do
    open_locks
    room_answer=$(answer_question)
    chosen='' reasons='' claim='' is_whole=''
    give_nothing
    read_answer <<ANSWER
$room_answer
ANSWER
    [ -z "$chosen" ] || hold || { chosen='' && reasons="wait $key $kind claim:-"; }
    free_locks
    [ -z "$is_whole" ] || break
    find_dirs
  done
  [ -n "$chosen$reasons" ] || [ -z "$needs" ] || reasons="wait $key $kind answer:-"
}

answer_question() {
  exec 4>&1
  print_question | LC_ALL=C $time_limit awk -v own_uid="$uid" -v own_pid="$$" -v owners="$own_dirs$owners" -f room.awk \
    2>/dev/null 3<&- 4>&- 9<&-
}

print_question() {
  printf '%s\n' "$measured_facts" "$needs" "$used"
  take_locks
  list_claims || return
  printf '%s\n' "$old_claims" "$claims" && echo "whole $is_unlocked" >&4
}

read_answer() {
  while read -r word first second third rest; do
    case $word in
      whole) is_whole=yes is_unlocked=$first ;;
      wait) reasons="$reasons${reasons:+$newline}wait $first $second $third${rest:+ $rest}" ;;
      start) [ -z "$is_whole" ] || chosen=$first claim="$third $rest" ;;
      card) give_card ;;
      got) give_part ;;
    esac
  done
}


vendor='' given_cards='' given_parts='' given_lines='' devices=''
login_cuda=${CUDA_VISIBLE_DEVICES-unset} login_order=${CUDA_DEVICE_ORDER-unset} login_rocr=${ROCR_VISIBLE_DEVICES-unset}

give_nothing() {
  vendor='' given_cards='' given_parts='' given_lines=''
}

give_card() {
  vendor=$third
  given_lines="${given_lines}on $second ${rest% *}$newline"
  [ "${rest##* }" != 1 ] || first=$second
  given_cards="$given_cards${given_cards:+,}$first"
}

give_part() {
  given_lines="${given_lines}has $first $second $third$newline"
  given_parts="$given_parts${given_parts:+,}$first:$second"
}

set_devices() {
  devices=
  case $vendor$held_machine in
    nvidia0) devices="CUDA_VISIBLE_DEVICES=$given_cards CUDA_DEVICE_ORDER=PCI_BUS_ID" ;;
    amd0) devices="ROCR_VISIBLE_DEVICES=$given_cards" ;;
  esac
  forget_devices
  for device in $devices; do export "${device?}"; done
}

forget_devices() {
  restore CUDA_VISIBLE_DEVICES "$login_cuda"
  restore CUDA_DEVICE_ORDER "$login_order"
  restore ROCR_VISIBLE_DEVICES "$login_rocr"
}

restore() {
  if [ "$2" = unset ]; then unset "$1"; else export "$1=$2"; fi
}

name_given() {
  script=$dir/command
  [ -e "$dir/names" ] || return 0
  LC_ALL=C awk -v cards="$given_cards" -v parts="$given_parts" -f names.awk "$dir/names" "$dir/command" >"$dir/named" || return 125
  script=$dir/named
}


find_next_slot() {
  find_dead_slot && return
  can_grow && next_slot=$slot_count && mkdir "slots/$next_slot" 2>/dev/null && true >"slots/$next_slot/events" || return 1
  say "added $1 $next_slot"
}

find_dead_slot() {
  slot_count=0
  for each in slots/*; do
    next_slot=${each#slots/}
    ! is_dead "$each/loop" || return 0
    slot_count=$((slot_count + 1))
  done
  return 1
}

can_grow() {
  [ "$most_slots" -gt 0 ] && [ ! -d "slots/$((most_slots - 1))" ]
}


pause=1
said_at=0

wait_for_room() {
  tell
  if ! is_scout; then
    ! is_live scout || { tell_reasons; return 1; }
    { echo "$keeper_line" >scout; } 2>/dev/null
  fi
  tell_reasons
  doze
}

is_scout() {
  scout_line=
  { read -r scout_line <scout; } 2>/dev/null
  [ "$scout_line" = "$keeper_line" ]
}

tell_reasons() {
  uptime_now
  strip_amounts
  [ "$stripped" != "$said" ] || [ $((now - said_at)) -ge 6000 ] || return 0
  said=$stripped said_at=$now
  printf '%s\n' "$reasons" | while read -r _ words; do
    [ -z "$words" ] || say "waits $slot $words"
  done
}

strip_amounts() {
  stripped=
  set -f
  for word in $reasons; do
    case $word in
      memory:* | cores:* | cards:*) word=${word%%:*} ;;
      card:*:memory:*:*:* | card:*:use:*:* | card:*:amount:*:*) word=${word%:"${word#card:*:*:}"} ;;
      res:*:*:*) word=${word%:*:*} ;;
    esac
    stripped="$stripped $word"
  done
  set +f
}

doze() {
  slept=0 freed_before=$freed
  while [ "$slept" -lt "$pause" ]; do
    sleep 1
    slept=$((slept + 1))
    is_any_waiting || return 0
    look_at_freed
    [ "$freed" = "$freed_before" ] || { pause=1 && return 0; }
  done
  [ "$pause" -ge 5 ] || pause=$((pause + 1))
}

is_any_waiting() {
  is_in_place || return 1
  ! is_waiting "$dir" || return 0
  for each in jobs/*; do
    ! is_waiting "$each" || return 0
  done
  return 1
}

start_scout() {
  [ "$held" = new ] || return 0
  held=yes pause=1
  is_scout || ! is_live scout || return 0
  [ -e scout ] || can_grow || return 0
  with_lock "$lock" wake_another
}

wake_another() {
  [ ! -s scout ] || true >scout
  ! is_any_waiting || ! find_next_slot "$slot" || wake "$next_slot"
}

wake() {
  (
    close_pipes
    exec 4<&-
    forget_devices
    start_slot "$1"
  )
}

wait_for_disk() {
  tell
  reasons="wait $key ${kind:--} disk:-"
  tell_reasons
  is_any_waiting && sleep 1
}


keep() {
  read -r keeper _ <"$proc/self/stat"
  start_of "$keeper"
  keeper_line="$keeper $started $here"
  until echo "$keeper_line" >"$mine/keeper"; do make_room; done
  find_ancestors
  true >>"$mine/job"
  copied=
  { read -r copied <"$mine/copied"; } 2>/dev/null
  status=0
  work_through || status=$leaves
  release
  tell
  exit "$status"
}

work_through() {
  for next in jobs/*; do
    while is_waiting "$next"; do
      choose_job "$next"
      has_loop || return 0
      if ! has_room; then
        wait_for_room || return
        is_in_place || return 0
      elif take; then
        said=
        start_scout
        run_job
      fi
    done
  done
}

has_loop() {
  kill -0 $$ 2>/dev/null
}

take() {
  set -C
  { true >"$dir/claim"; } 2>/dev/null
  taken=$?
  set +C
  [ "$taken" = 0 ] || return 1
  if echo "slot $slot" >"$dir/claim"; then
    [ ! -e "$dir/exit" ]
    return
  fi
  rm -f "$dir/claim"
  wait_for_disk
  return 1
}

run_job() {
  job='' watchdog='' is_put_back='' facts=''
  if ! name_tree; then
    end_with lost 0
    return
  fi
  until echo "$keeper_line $key" >"$mine/keeper"; do make_room; done
  begun=$now
  load_ballast
  { has_work_copy || make_work 2>>"$dir/err"; } && [ ! -e "$dir/stopped" ] && begin && run_command
  code=$?
  if [ -n "$is_put_back" ]; then
    wait_for_disk
    return
  fi
  uptime_now
  end_leftovers
  wind_up "$code" $((now - begun))0 "$key"
}

wind_up() {
  code=$1
  [ -e "$dir/timed-out" ] && code=timed-out
  [ -e "$dir/stopped" ] && code=stopped
  if ! keep_results "$3" 2>>"$dir/err"; then
    echo "sshoal: the results of this job could not be kept: $spool/$mine/work" >>"$dir/err"
    [ "$code" != 0 ] || code=125
  fi
  end_with "$code" "$2"
}

end_with() {
  cut_output
  [ "$1" = 0 ] || find_cause "$1"
  add_footprint
  until echo "$1" >"$dir/exit"; do make_room; done
  untold="${untold:+$untold
}ended $key $slot $1 $2$facts"
  [ "$1" = 0 ] || tell
}


name_tree() {
  [ "$named" != "$dir" ] || return 0
  named='' runs_in_place=''
  tree='' tree_has_directories='' tree_is_large='' needs_own_shell=''
  { read -r _ tree tree_has_directories tree_is_large needs_own_shell <"$dir/command"; } 2>/dev/null
  case $tree in
    -) ;;
    @) tree=- runs_in_place=yes ;;
    *) tree=${tree:+$root/trees/$tree} ;;
  esac
  [ -n "$tree" ] && named=$dir
}

has_work_copy() {
  [ ! -e "$dir/keep" ] || return 1
  [ "$copied" = "$boot_id whole $tree" ] && is_directory "$mine/work" && is_open "$mine/work"
}

is_directory() {
  [ -d "$1" ] && [ ! -h "$1" ]
}

is_open() {
  [ -r "$1" ] && [ -w "$1" ] && [ -x "$1" ]
}

make_work() {
  [ ! -e "$dir/keep" ] || { make_kept_work; return; }
  tell
  made=$copied
  note_copied ''
  [ "$made" = "$boot_id part $tree" ] && is_directory "$mine/work" || made=
  if { [ -z "$made" ] && ! clear_work; } || ! copy_tree "$made"; then
    clear_work
    is_disk_full && put_back && return 1
    echo "sshoal: the working directory could not be copied for this job" >&2
    return 125
  fi
  true >"$mine/fresh"
  note_copied "$boot_id whole $tree"
  [ "$tree" = - ] || remember_copy
}

remember_copy() {
  wait_for_clock
}

wait_for_clock() {
  for try in 1 2 3 4 5; do
    true >"$mine/now"
    [ ! "$mine/now" -nt "$mine/fresh" ] || return 0
    sleep 0.005
  done
}

note_copied() {
  copied=$1
  echo "$1" 2>/dev/null >"$mine/copied"
}

clear_work() {
  remove "$mine/work" || mv "$mine/work" "$mine/aside.$key"
}

remove() {
  ! is_there "$1" || rm -rf "$1" 2>/dev/null || { is_directory "$1" && chmod -R u+rwx "$1" && rm -rf "$1"; }
}

copy_tree() {
  made=$1
  if [ "$tree" = - ]; then
    mkdir "$mine/work"
  elif [ "${made#* }" = "part $tree" ]; then
    set --
    for entry in "$tree"/* "$tree"/.[!.]* "$tree"/..?*; do
      is_there "$entry" && ! is_there "$mine/work/${entry##*/}" && set -- "$@" "$entry"
    done
    [ $# = 0 ] || copy -- "$@" "$mine/work/"
  else
    copy "$tree" "$mine/work"
  fi
}

copy() {
  complaint=$(cp -a --reflink=auto "$@" 2>&1) && return 0
  if cp --reflink=auto --version >/dev/null 2>&1; then
    printf '%s\n' "$complaint" >&2
    return 1
  fi
  cp -a "$@"
}

is_there() {
  [ -e "$1" ] || [ -h "$1" ]
}

put_back() {
  rm -f "$mine/ballast" "$dir/err" "$dir/claim" && is_put_back=yes
}


make_kept_work() {
  tell
  if ! remove "$dir/making" || ! mkdir "$dir/making" || ! copy_start || ! copy_trees; then
    remove "$dir/making"
    is_disk_full && put_back && return 1
    echo "sshoal: the working directory could not be copied for this job" >&2
    return 125
  fi
  true >"$mine/fresh"
  wait_for_clock
  mv "$dir/making/work" "$dir/work" && lay_over_layers && return 0
  echo "sshoal: what the last attempt left could not be put in place for this job" >&2
  return 125
}

copy_start() {
  if [ "$tree" = - ]; then mkdir "$dir/making/work"; else copy "$tree" "$dir/making/work"; fi
}

copy_trees() {
  while read -r what name; do
    [ "$what" != tree ] || copy "$root/trees/$name" "$dir/making/$name" || return 1
  done <"$dir/keep"
}

lay_over_layers() {
  while read -r what name; do
    case $what in
      tree) lay_over "$dir/making/$name" "$dir/work" || return 1 ;;
      job)
        [ -d "jobs/$name" ] || echo "sshoal: the directory of the last attempt is gone: this one starts fresh" >&2
        for layer in "jobs/$name/work" "jobs/$name/aside"/*; do
          ! is_directory "$layer" || lay_over "$layer" "$dir/work" || return 1
        done
        ;;
    esac
  done <"$dir/keep"
  remove "$dir/making"
}

lay_over() (
  from=$1 to=$2
  set --
  for entry in "$from"/* "$from"/.[!.]* "$from"/..?*; do
    is_there "$entry" || continue
    target=$to/${entry##*/}
    if is_directory "$entry" && is_directory "$target"; then
      lay_over "$entry" "$target" || exit 1
      continue
    fi
    remove "$target" || exit 1
    set -- "$@" "$entry"
    [ $# -lt 200 ] || { mv -- "$@" "$to/" && set --; } || exit 1
  done
  [ $# = 0 ] || mv -- "$@" "$to/"
)


begin() {
  tell_start
  ensure_sampler
  start_watchdog
  start_output_watch
}

run_command() {
  run_in_own_shell
}

run_in_own_shell() {
  work=$spool/$mine/work kept=$spool/$mine/work
  [ -z "$runs_in_place" ] || work=$in_place
  [ ! -e "$dir/keep" ] || work=$spool/$dir/work kept=$spool/$dir/work
  name_given 2>>"$dir/err" || return
  note_oom_kills
  find_scope
  set -- $scope
  [ -z "$scope" ] || set -- "$@" sh -c "$note_scope" sh "$spool/$mine/scope" "$cgroups" "$proc"
  as_at_login
  cd "$work" 2>>"$spool/$dir/err" &&
    SSHOAL_ATTEMPT=$attempt SSHOAL_SLOT_DIR=$spool/$mine SSHOAL_BOOT=$here SSHOAL_KEEPER=$keeper SSHOAL_RESULTS=$kept \
      setsid "$@" $politely "$shell" "$spool/$script" </dev/null >>"$spool/$dir/out" 2>>"$spool/$dir/err" 5>&- 6<&- 7>&- 8<&-
  code=$?
  as_in_spool
  cd "$spool" || exit 1
  learn_job
  return "$code"
}

as_at_login() {
  umask "${login_umask:-077}"
  unset LC_ALL
  [ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
}

as_in_spool() {
  umask 077
  export LC_ALL=C
}

learn_job() {
  job='' whose=''
  { read -r job _ _ whose <"$mine/job"; } 2>/dev/null
  [ "$whose" = "$key" ] || job=$nobody
}

close_pipes() {
  exec 5>&- 6<&- 7>&- 8<&-
}


start_watchdog() {
  job_limit=$limit
  [ ! -e "$dir/limit" ] || read -r job_limit <"$dir/limit"
  [ "$job_limit" -gt 0 ] || return 0
  watch "$job_limit" &
  watchdog=$!
}

watch() {
  close_pipes
  exec 4<&-
  earlier=$!
  trap '[ "$!" = "$earlier" ] || kill -KILL "$!"; exit' TERM
  SSHOAL_WATCH=$attempt sleep "$1" &
  wait $! && true >"$dir/timed-out" || return
  is_running "$key" || live_pid=$nobody
  end_tree "$live_pid" "$attempt"
}

end_watch() {
  kill $(marked "$attempt" SSHOAL_WATCH) 2>/dev/null
}


mark_bytes=200
least_bytes=65536

read_output_limit() {
  { read -r most_bytes most_text <"$dir/max-output"; } 2>/dev/null || return
  case $most_bytes in '' | *[!0-9]*) return 1 ;; esac
  half=$((most_bytes / 2))
}

start_output_watch() {
  [ -e "$dir/max-output" ] || return 0
  watch_output &
  output_watch=$!
}

watch_output() {
  close_pipes
  exec 2>/dev/null
  sleeper=
  trap '[ -z "$sleeper" ] || kill -KILL "$sleeper"; exit' TERM
  read_output_limit && exec 3>>"$dir/out" 4>>"$dir/err" || return
  last_sizes=''
  while nap && has_no_end && sizes=$(stat -Lc %s /proc/self/fd/3 /proc/self/fd/4); do
    [ "$sizes" != "$last_sizes" ] || continue
    last_sizes=$sizes
    set -- $sizes
    free_middle 3 "$1"
    free_middle 4 "$2"
  done
}

nap() {
  SSHOAL_WATCH=$attempt sleep 1 &
  sleeper=$!
  wait "$sleeper" && sleeper=
}

has_no_end() {
  [ -e "$dir/max-output" ] && [ ! -e "$dir/exit" ]
}

free_middle() {
  middle=$(($2 - 2 * half))
  [ "$middle" -ge "$least_bytes" ] || return 0
  fallocate -p -o "$half" -l "$middle" "/proc/self/fd/$1" || true >"$dir/unfreed"
}

cut_output() {
  if [ -n "$output_watch" ]; then
    kill "$output_watch" 2>/dev/null
    wait "$output_watch"
    output_watch=
  fi
  [ -e "$dir/max-output" ] && read_output_limit || return 0
  cut_stream "$dir/out"
  cut_stream "$dir/err"
}

cut_stream() {
  size=0
  [ ! -e "$1" ] || size=$(stat -Lc %s "$1" 2>/dev/null || wc -c <"$1")
  [ "$size" -gt "$most_bytes" ] || return 0
  end_bytes=$((most_bytes - half - mark_bytes))
  find_mark "$1" $((size - half - end_bytes))
  { head -c "$half" "$1" && printf '%s\n' "$mark" && tail -c "$end_bytes" "$1"; } 2>/dev/null >"$1.cut" && mv "$1.cut" "$1" && return
  rm -f "$1.cut"
  find_mark "$1" $((size - half))
  dd if=/dev/null of="$1" bs=1 seek="$half" 2>/dev/null
  printf '%s\n' "$mark" >>"$1"
}

find_mark() {
  format_bytes "$2"
  mark="[sshoal: $amount of output left out here: --max-output $most_text]"
  [ ! -e "$dir/unfreed" ] ||
    mark="$mark
[sshoal: it was on the machine's disk until the job ended: that file system does not free parts of files]"
  [ -z "$(head -c "$half" "$1" | tail -c 1)" ] || mark="
$mark"
}

format_bytes() {
  tenths=$(($1 * 10)) unit=B
  for larger in kB MB GB TB; do
    [ "$tenths" -ge 10000 ] || break
    tenths=$((tenths / 1000)) unit=$larger
  done
  amount=$((tenths / 10))
  [ "$unit" = B ] || amount=$amount.$((tenths % 10))
  amount="$amount $unit"
}


try_limit() {
  unlimited='there is no systemd-run'
  command -v systemd-run >/dev/null || return 0
  unlimited='systemd-run --user does not work'
  in_five=''
  ! command -v timeout >/dev/null || in_five='timeout 5'
  limits=$($in_five systemd-run --user --scope --quiet -p MemoryMax=64M -p MemorySwapMax=0 sh -c "$print_limits" \
    </dev/null 2>/dev/null) || return 0
  unlimited='its systemd may not limit the memory of a user'
  case " $limits" in *' 67108864 '*) unlimited='' ;; esac
}

print_limits='while IFS=: read -r _ kind path; do
  case ,$kind, in
    ,,) file=/sys/fs/cgroup$path/memory.max ;;
    *,memory,*) file=/sys/fs/cgroup/memory$path/memory.limit_in_bytes ;;
    *) continue ;;
  esac
  [ ! -r "$file" ] || { read -r limit <"$file" && printf "%s " "$limit"; }
done </proc/self/cgroup
exit 0'


can_limit=''

find_scope() {
  scope=''
  [ -e "$dir/memory-limit" ] || return 0
  limit_mb=
  { read -r limit_mb <"$dir/memory-limit"; } 2>/dev/null
  case $limit_mb in '' | *[!0-9]*) return 0 ;; esac
  [ -n "$can_limit" ] || find_limits
  [ "$can_limit" = yes ] || return 0
  scope="systemd-run --user --scope --quiet -p MemoryMax=${limit_mb}M -p MemorySwapMax=0"
  { : >"$mine/scope"; } 2>/dev/null
}

find_limits() {
  can_limit=yes
  try_limit
  [ -n "$unlimited" ] || return 0
  can_limit=no
  say "unlimited $slot $unlimited"
}

note_scope='file=$1 cgroups=$2 proc=$3
shift 3
note() {
  while read -r name count; do
    [ "$name" != oom_kill ] || printf "%s %s\n" "$count" "$1"
  done <"$1"
}
{
  while IFS=: read -r _ kind path; do
    case ,$kind, in
      ,,) note "$cgroups$path/memory.events"; note "$cgroups${path%/*}/memory.events" ;;
      *,memory,*) note "$cgroups/memory$path/memory.oom_control" ;;
    esac
  done <"$proc/self/cgroup" >"$file"
} 2>/dev/null
exec "$@"'

was_killed_in_scope() {
  [ -n "${scope-}" ] && [ -s "$mine/scope" ] || return 1
  is_own=yes
  while read -r before file; do
    if read_oom "$file"; then
      [ "$is_own" = yes ] || [ "$1" = 137 ] || [ "$1" = 143 ] || return 1
      [ "$count" -gt "$before" ]
      return
    fi
    is_own=no
  done <"$mine/scope"
  return 1
}


sampler_seen_at=''

ensure_sampler() {
  [ -z "$sampler_seen_at" ] || [ $((begun - sampler_seen_at)) -ge 200 ] || return 0
  sampler_seen_at=$begun
  is_dead "$base/sampler@$host" && command -v awk >/dev/null || return 0
  (close_pipes && exec 4<&- && setsid sh "$spool/sampler.sh" "$spool" </dev/null >/dev/null 2>&1 &)
}

wake_sampler() {
  ! is_live "$base/sampler@$host" || kill -USR1 "$live_pid" 2>/dev/null
}

add_footprint() {
  [ -e "$mine/peak" ] || return 0
  measured='' peak_mb='' peak_gpu='' peak_cpu=''
  { read -r measured peak_mb peak_gpu peak_cpu <"$mine/peak"; } 2>/dev/null && [ "$measured" = "$key" ] || return 0
  add_fact mem "$peak_mb"
  add_fact gpu "$peak_gpu"
  add_fact cpu "$peak_cpu"
}

add_fact() {
  case $2 in '' | *[!0-9]*) ;; *) facts="$facts $1=$2" ;; esac
}


end_leftovers() {
  [ -n "$watchdog" ] && [ ! -e "$dir/timed-out" ] && kill "$watchdog" 2>/dev/null
  [ -n "$watchdog" ] && wait "$watchdog"
  watchdog=
  [ -z "$job" ] || ! has_leftovers || { end_tree "$job" "$attempt" && uptime_now; }
}

has_leftovers() {
  kill -0 "-$job" 2>/dev/null && return 0
  find_orphans
  read -r _ _ _ _ last_pid <"$proc/loadavg"
  has_range=yes
  if [ $((now - begun)) -ge 200 ] || [ "$last_pid" -lt "$job" ]; then has_range=; fi
  if [ $((now - begun)) -ge 1000 ] || [ -z "$ancestors$has_range" ]; then
    [ -n "$(marked "$attempt")" ]
    return
  fi
  suspects=
  if [ -n "$ancestors" ]; then suspect_orphans; else suspect_all; fi
  [ -n "$suspects" ] && [ -n "$(marked_among "SSHOAL_ATTEMPT=$attempt" $suspects)" ]
}

find_ancestors() {
  climb || climb || ancestors=
}

climb() {
  ancestors=1 parent=$$
  [ -r "$proc/1/task/1/children" ] || return 1
  while start_of "$parent" || return 1; do
    [ "$parent" -gt 1 ] || return 0
    [ -r "$proc/$parent/task/$parent/children" ] || return 1
    ancestors="$ancestors $parent"
  done
}

find_orphans() {
  orphans=
  for ancestor in $ancestors; do
    children=
    { read -r children <"$proc/$ancestor/task/$ancestor/children"; } 2>/dev/null
    orphans="$orphans $children"
  done
}

suspect_orphans() {
  for pid in $orphans; do
    [ -n "$has_range" ] && { [ "$pid" -le "$job" ] || [ "$pid" -gt "$last_pid" ]; } || suspect
  done
}

suspect_all() {
  pid=$job
  while [ "$pid" -lt "$last_pid" ]; do
    pid=$((pid + 1))
    suspect
  done
}

suspect() {
  [ ! -O "$proc/$pid/environ" ] || [ ! -e "$proc/$pid/exe" ] || suspects="$suspects $proc/$pid/environ"
}


keep_results() {
  is_directory "$dir/work" || ! is_there "$dir/work" || rm -f "$dir/work"
  name_tree && [ "$1" = "$key" ] || return 0
  if [ -e "$dir/keep" ]; then
    remove "$dir/making"
    [ -d "$dir/work" ] || return 0
  elif [ ! -d "$dir/work" ]; then
    is_directory "$mine/work" || { miss_work; return 0; }
    ! is_untouched || return 0
    note_copied ''
    mv "$mine/work" "$dir/work" 2>/dev/null || { chmod u+rwx "$mine/work" && mv "$mine/work" "$dir/work"; } || return
    [ "$tree_is_large" = 0 ] || [ "$tree" = - ] || [ "$copy_unchanged" = 1 ] || ! can_tell || has_clock_jumped || pass_on
  fi
  [ "$tree" = - ] || [ "$copy_unchanged" = 1 ] || drop_inputs
  return 0
}

miss_work() {
  [ "$copied" = "$boot_id whole $tree" ] || return 0
  note_copied ''
  rm -f "$mine/work"
  echo "sshoal: the job removed or replaced its working directory: what was in it is no result" >&2
}

is_untouched() {
  if [ "$tree" = - ]; then
    is_open "$mine/work" || return 1
    for entry in "$mine/work/"* "$mine/work/".[!.]* "$mine/work/"..?*; do
      ! is_there "$entry" || return 1
    done
  else
    [ "$copy_unchanged" = 0 ] && ! has_clock_jumped && is_as_copied
  fi
}

is_as_copied() {
  can_tell && finds_no_change
}

finds_no_change() {
  found=$(find "$mine/work" -cnewer "$mine/fresh" -print -quit 2>&1) && [ -z "$found" ]
}

can_tell() {
  if [ -z "$find_tells" ]; then
    find_tells=no
    ! find . -prune -cnewer . -quit >/dev/null 2>&1 || find_tells=yes
  fi
  [ "$find_tells" = yes ]
}

has_clock_jumped() {
  true >"$mine/now"
  [ "$mine/fresh" -nt "$mine/now" ]
}

pass_on() {
  remove "$mine/changed"
  mkdir "$mine/changed" "$mine/work" || return
  (cd "$dir/work" && find . ! -name . -cnewer "$spool/$mine/fresh" -exec sh -c 'changed=$1; shift
    for path; do
      path=${path#./}
      true >"$changed/${path%%/*}" || exit 1
    done' sh "$spool/$mine/changed" {} +) || return
  set --
  for entry in "$tree"/* "$tree"/.[!.]* "$tree"/..?*; do
    name=${entry##*/}
    is_there "$entry" && is_there "$dir/work/$name" && [ ! -e "$mine/changed/$name" ] && set -- "$@" "$dir/work/$name"
  done
  [ $# = 0 ] || mv -- "$@" "$mine/work/" || return
  note_copied "$boot_id part $tree"
}

drop_inputs() {
  cd "$dir/work" || return
  if can_tell; then
    find . -type d ! -perm -700 -exec chmod u+rwx {} \; -o ! -type d ! -cnewer "$spool/$mine/fresh" -exec sh -c 'tree=$1; shift
      for file; do
        if [ -h "$file" ]; then [ -h "$tree/$file" ]
        else [ -e "$tree/$file" ] && ! [ "$file" -nt "$tree/$file" ] && ! [ "$file" -ot "$tree/$file" ]
        fi && printf "%s\0" "$file"
      done' sh "$tree" {} + | xargs -0 rm -f
  else
    find . -type d ! -perm -700 -exec chmod u+rwx {} \; -o ! -type d -exec sh -c 'tree=$1; shift
      for file; do
        if [ -h "$file" ]; then [ -h "$tree/$file" ] && [ "$(readlink "$file")" = "$(readlink "$tree/$file")" ]
        else [ ! -h "$tree/$file" ] && cmp -s "$file" "$tree/$file"; fi && rm -f "$file"
      done' sh "$tree" {} +
  fi
  [ "$tree_has_directories" = 0 ] || (cd "$tree" && find . -depth -type d ! -path . -print0) | xargs -0 rmdir 2>/dev/null
  cd "$OLDPWD" || return
}


say() {
  printf '%s\n' "$1" >>"$mine/events"
}

end_torn_line() {
  [ ! -s "$mine/events" ] || [ -z "$(tail -c 1 "$mine/events")" ] || say ''
}

tell() {
  [ -n "$untold" ] || return 0
  until say "$untold"; do
    until say ''; do make_room; done
  done
  untold=
}

tell_start() {
  untold="${untold:+$untold
}started $key $slot $begun ${boot_id%%-*}${given_cards:+ gpus=$given_cards}${given_parts:+ got=$given_parts}"
  tell
}

warn() {
  say "warned $slot $1"
}


load_ballast() {
  [ -s "$mine/ballast" ] || printf '%8192s' '' >"$mine/ballast"
}

make_room() {
  throw_ballast || sleep_on
}

throw_ballast() {
  [ -e "$mine/ballast" ] && rm -f "$mine/ballast"
}

sleep_on() {
  [ -d "$dir" ] && is_in_place || exit 1
  sleep 1
}

tell_full_disk() {
  is_disk_full || return 0
  throw_ballast
  facts="$facts disk=full"
  echo "sshoal: the disk is full here: $PWD" >>"$dir/err"
}

is_disk_full() {
  free_kb=$(df -Pk . 2>/dev/null | tail -n 1 | { read -r _ _ _ free _; echo "$free"; })
  case $free_kb in '' | *[!0-9]* | ????*) return 1 ;; esac
}


cgroups=/sys/fs/cgroup
seen_in_cgroup='' seen_on_machine='' has_looked=''

find_cause() {
  tell_full_disk
  case $1 in *[!0-9]*) return ;; esac
  if was_killed_in_scope "$1"; then
    note_seen_kills
    facts="$facts oom=certain"
  elif [ "$1" = 137 ]; then
    find_oom_kill
  fi
  find_failed_setup
  find_last_words
}

find_failed_setup() {
  whose='' during=''
  { read -r whose _ during <"$mine/code"; } 2>/dev/null
  [ "$whose $during" != "$attempt setup" ] || facts="$facts setup=failed"
}

find_last_words() {
  [ -s "$dir/err" ] || [ -s "$dir/out" ] || return 0
  words='(CUDA|HIP) out of memory|(CUDA|HIP) error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|hipErrorOutOfMemory'
  words="$words|cudaErrorMemoryAllocation|(cuda|hip)Malloc.*out of memory|torch(\\.cuda)?\\.OutOfMemoryError"
  words="$words|RESOURCE_EXHAUSTED: Out of memory|OOM when allocating tensor.*GPU|CU(BLAS|DNN)_STATUS_ALLOC_FAILED"
  found=$(tail -c 4096 "$dir/err" "$dir/out" 2>/dev/null | tr -d '\000' | grep -oE "$words|No space left on device")
  case $found$facts in *disk=full*) ;; *'No space left'*) facts="$facts disk=full" ;; esac
  case $found in *[Mm]emory* | *MEMORY* | *OOM* | *ALLOC*) facts="$facts gpu-memory=yes" ;; esac
}

note_oom_kills() {
  [ -z "$has_looked" ] || return 0
  has_looked=yes
  note_seen_kills
}

note_seen_kills() {
  count_oom_kills
  seen_in_cgroup=$in_cgroup seen_on_machine=$on_machine
}

find_oom_kill() {
  count_oom_kills
  if [ -n "$seen_in_cgroup" ] && [ "${in_cgroup:-0}" -gt "$seen_in_cgroup" ]; then
    facts="$facts oom=certain"
  elif [ -n "$seen_on_machine" ] && [ "${on_machine:-0}" -gt "$seen_on_machine" ]; then
    facts="$facts oom=likely"
  fi
  seen_in_cgroup=$in_cgroup seen_on_machine=$on_machine
}

count_oom_kills() {
  in_cgroup='' on_machine=''
  while IFS=: read -r _ names path; do
    case ,$names, in
      *,memory,*) read_oom "$cgroups/memory$path/memory.oom_control" || read_oom "$cgroups/memory/memory.oom_control" ;;
      ,,) read_oom "$cgroups$path/memory.events" || read_oom "$cgroups/memory.events" ;;
      *) false ;;
    esac && in_cgroup=$count
  done <"$proc/self/cgroup"
  ! read_oom "$proc/vmstat" || on_machine=$count
}

read_oom() {
  [ -r "$1" ] || return 1
  while read -r name count; do
    [ "$name" = oom_kill ] || continue
    case $count in '' | *[!0-9]*) return 1 ;; esac
    return 0
  done <"$1"
  return 1
}


main() {
  until with_lock "$lock" become_the_loop; do
    [ -n "$is_unwritten" ] && is_in_place || exit 0
    sleep 1
  done
  if [ -z "$is_new" ]; then
    recover
    with_lock "$lock" has_work || leave
  fi
  while true; do
    have_it_kept
    with_lock "$lock" has_work || leave
  done
}

leave() {
  wake_sampler
  exit 0
}

[ -n "${plain_slots-}" ] || . ./fast.sh
read_room
open_claim
main
