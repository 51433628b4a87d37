# Reads a machine's resources: prints raw facts, one a line behind $nonce; whoever asked does the arithmetic.
# Given: $nonce; where /proc and /sys are ($proc, $sys); how long the GPU tools may take ($gpu_seconds) and how far
# apart the two looks at the cores are at least ($apart, in hundredths of a second); as "$@" the roots below which
# this user's batches/*/slots/*/claim are.
# POSIX sh, builtins where a loop would fork; one section that fails spoils that section only.
# shellcheck disable=SC2154

probe() {
  LC_ALL=C
  export LC_ALL
  # Whatever was printed before may have left its line open.
  echo
  tell_cpu_use
  begun_at=$now
  tell_host
  tell_logout
  tell_memory
  tell_claims "$@"
  tell_gpus
  sleep_the_rest
  tell_cpu_use
  say 'done'
}

say() {
  printf '%s %s\n' "$nonce" "$*"
}

# line_of FILE: sets $line to its first line, empty when it cannot be read.
line_of() {
  line=
  [ -r "$1" ] && { IFS= read -r line <"$1"; } 2>/dev/null
  [ -n "$line" ]
}

# Said twice, at the beginning and at the end: the difference is how busy the machine is now.
tell_cpu_use() {
  now=
  line_of "$proc/uptime" && to_hundredths "${line%% *}" && say uptime "$line"
  line_of "$proc/stat" && say stat "$line"
  each_cgroup cpu tell_cpu_limit
}

# "12.34" to 1234, in $now. The 1 before the fraction keeps 08 from being read as octal.
to_hundredths() {
  case $1 in *[!0-9.]* | *.*.* | *.) return 1 ;; *.[0-9][0-9]) now=$((${1%.*} * 100 + 1${1#*.} - 100)) ;; esac
}

sleep_the_rest() {
  left=$apart
  line_of "$proc/uptime" && to_hundredths "${line%% *}"
  [ -n "$begun_at" ] && left=$((apart - now + begun_at))
  [ "$left" -gt 0 ] || return
  [ "$left" -gt 9 ] || left=0$left
  # Some builds of busybox sleep whole seconds only.
  sleep "0.$left" 2>/dev/null || sleep 1
}

# each_cgroup CONTROLLER FUNCTION: calls FUNCTION VERSION DIR for the own cgroup and each ancestor of it.
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

# A container may see the path it has outside, which is not there inside: what is not there has no limits to read.
each_level() {
  path=${3%/}
  # The own cgroup is outside of what this namespace shows, or the path is odd: the root of what is shown, then.
  case $path in /..* | [!/]*) path= ;; esac
  while :; do
    "$4" "$1" "$2$path"
    [ -n "$path" ] || break
    path=${path%/*}
  done
}

tell_cpu_limit() {
  used='' unit=us
  if [ "$1" = 2 ]; then
    line_of "$2/cpu.max" || return
    quota=$line
    line_of "$2/cpu.stat" && used=${line#usage_usec }
  else
    line_of "$2/cpu.cfs_quota_us" || return
    quota=$line
    line_of "$2/cpu.cfs_period_us" && quota="$quota $line"
    line_of "$2/cpuacct.usage" || line_of "$sys/fs/cgroup/cpuacct${2#"$sys/fs/cgroup/cpu"}/cpuacct.usage"
    used=$line unit=ns
  fi
  case $quota in max* | -*) return ;; esac
  say cpulimit "${used:--} $unit $quota $2"
}

tell_host() {
  line_of "$proc/sys/kernel/hostname" || line=$(uname -n)
  say hostname "$line"
  hostname=$line
  line_of "$proc/sys/kernel/random/boot_id" && say identity "$line $hostname $HOME"
  command -v bash >/dev/null 2>&1 || say no-bash
  [ -r "$proc/self/status" ] || return
  while read -r key value; do
    [ "$key" = Cpus_allowed_list: ] && say allowed "$value"
  done <"$proc/self/status"
}

# By the functions of logout.sh.
tell_logout() {
  find_logout
  [ "$at_logout" = survive ] || say logout "$at_logout"
}

tell_memory() {
  [ -r "$proc/meminfo" ] && while read -r key value; do
    case $key in
      MemTotal: | MemFree: | MemAvailable: | Buffers: | Cached: | SReclaimable: | Shmem:) say meminfo "$key $value" ;;
    esac
  done <"$proc/meminfo"
  each_cgroup memory tell_memory_limit
}

tell_memory_limit() {
  if [ "$1" = 2 ]; then
    set -- "$2" memory.max memory.current inactive_file
  else
    set -- "$2" memory.limit_in_bytes memory.usage_in_bytes total_inactive_file
  fi
  line_of "$1/$2" || return
  limit=$line
  [ "$limit" != max ] && line_of "$1/$3" || return
  inactive=-
  [ -r "$1/memory.stat" ] && while read -r key value; do
    [ "$key" = "$4" ] && inactive=$value
  done <"$1/memory.stat"
  say memlimit "$limit $line $inactive $1"
}

# What live slots have claimed, and how much memory their jobs already hold.
tell_claims() {
  line_of "$proc/sys/kernel/random/boot_id" || return
  boot_id=$line
  resident=
  for base; do
    for claim in "$base"/batches/*/slots/*/claim; do
      # A link may lead to where another account has made a directory since.
      [ -s "$claim" ] && [ -O "${claim%/claim}" ] && tell_claim "${claim%/claim}"
    done
  done
  [ -n "$resident" ] || return
  tell_page_size
  # One sed for all of them: `read` takes byte by byte, 1.8 s for 3000 processes instead of 0.05.
  sed -n "$resident" "$proc"/[0-9]*/stat 2>/dev/null
}

tell_claim() {
  pid='' started='' boot='' memory=''
  { read -r pid started boot _ <"$1/loop"; } 2>/dev/null
  [ "$boot" = "$boot_id" ] && has_started "$pid" "$started" || return
  session=-
  { read -r session job_started _ <"$1/job"; } 2>/dev/null
  case $session in
    '' | *[!0-9]*) session=- ;;
    *) has_started "$session" "$job_started" || is_gone "$session" || session=- ;;
  esac
  # Of /proc/*/stat after the last ")": the 3rd word is the group, the 4th the session, the 22nd the resident pages. A job
  # leads its session, or a group in that of its slot.
  [ "$session" = - ] || resident="$resident
s/^.*) [^ ]* [^ ]* [^ ]* $session \([^ ]* \)\{17\}\([0-9]*\) .*/$nonce rss $session \2/p
t
s/^.*) [^ ]* [^ ]* $session \([^ ]* \)\{18\}\([0-9]*\) .*/$nonce rss $session \2/p
t"
  { read -r memory cpus gpu_memory gpu_use gpu machine cards _ <"$1/claim"; } 2>/dev/null
  batch=${1%/slots/*}
  say claim "$pid ${1##*/} $session $memory $cpus $gpu_memory $gpu_use $gpu $machine $cards ${batch##*/}"
}

# A pid is a name only together with its start time. The 2nd field of stat may hold spaces and brackets.
has_started() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  line_of "$proc/$1/stat" || return
  wanted=$2
  # shellcheck disable=SC2086
  set -- ${line##*) }
  [ "$1" != Z ] && [ "${20}" = "$wanted" ]
}

is_gone() {
  ! [ -e "$proc/$1" ]
}

# Not 4 kB everywhere, and getconf is not everywhere either.
tell_page_size() {
  { while read -r key value _; do
    [ "$key" = KernelPageSize: ] && say pagesize "$value" && break
  done <"$proc/self/smaps"; } 2>/dev/null
}

# A wedged driver makes its tools hang so that not even KILL ends them, and then `timeout` waits as well. So the tools
# write into a pipe beside a watchdog, and whoever reads the pipe walks away after the word of either.
tell_gpus() {
  [ -n "${CUDA_VISIBLE_DEVICES+set}" ] && say visible cuda "$CUDA_VISIBLE_DEVICES"
  [ -n "${ROCR_VISIBLE_DEVICES+set}" ] && say visible rocr "$ROCR_VISIBLE_DEVICES"
  PATH=$PATH:/usr/lib/wsl/lib:/usr/local/nvidia/bin:/run/opengl-driver/bin:/run/current-system/sw/bin
  command -v nvidia-smi >/dev/null 2>&1 || [ -e "$sys/class/kfd" ] || { say no-smi && return; }
  {
    watchdog &
    echo "$nonce watchdog $!"
    { amd; nvidia; echo "$nonce over"; } 3>&1 &
    echo "$nonce tools $!"
  } 2>/dev/null | relay
}

watchdog() {
  # In this order, and with KILL: else a quick tool could leave the sleeper behind.
  trap 'kill -KILL $!; exit' TERM
  sleep "$gpu_seconds" &
  wait $! && echo "$nonce late"
}

relay() {
  tool=
  while IFS= read -r line; do
    case $line in
      "$nonce watchdog "*) watchdog=${line##* } ;;
      "$nonce tools "*) tools=${line##* } ;;
      "$nonce tool "*) tool=${line##* } ;;
      "$nonce late")
        # shellcheck disable=SC2086
        kill -9 $tools $tool 2>/dev/null
        say late "$gpu_seconds"
        return
        ;;
      "$nonce over")
        kill "$watchdog" 2>/dev/null
        return
        ;;
      ?*) say "$line" ;;
    esac
  done
}

nvidia() {
  command -v nvidia-smi >/dev/null 2>&1 || { echo no-smi && return; }
  # An old driver refuses the whole question for one word it does not know. The name is last: it may hold commas.
  for fields in ,utilization.gpu,compute_mode,mig.mode.current ,utilization.gpu,compute_mode ''; do
    fields=index,uuid,memory.total,memory.free$fields,name
    ask_cards
    case $answer in *'not a valid field'*) ;; *) break ;; esac
  done
  echo "smi-fields $fields"
  show smi
  rows=$answer
  has_rows || ask_one_by_one
  case $rows in *', Enabled, '*) tell_slices ;; esac
  case $rows in *', Exclusive_'*) ask --query-compute-apps=gpu_uuid,pid --format=csv,noheader && show smi-process ;; esac
}

ask_cards() {
  ask "--query-gpu=$fields" --format=csv,noheader,nounits "$@"
}

# Sets $answer. Errors are often on stdout, so all that is said is the answer. Tells its pid, for whoever has to end it.
ask() {
  # shellcheck disable=SC2016
  answer=$(sh -c 'echo "$0 tool $$" >&3; exec nvidia-smi "$@" 2>&1 3>&-' "$nonce" "$@")
  true
}

show() {
  printf '%s\n' "$answer" | sed "s/^/$1 /"
}

has_rows() {
  case "
$answer" in *"
"[0-9]*", GPU-"*) ;; *) false ;; esac
}

# One lost card can hide all the others.
ask_one_by_one() {
  ask -L
  show smi-card
  for index in $(printf '%s\n' "$answer" | sed -n 's/^GPU \([0-9]*\): .*/\1/p'); do
    ask_cards -i "$index"
    show smi
    rows="$rows
$answer"
  done
}

tell_slices() {
  ask -L
  show smi-card
  ask -q -x
  answer=$(printf '%s\n' "$answer" | sed -n -e '/<gpu id=/p' -e '/<uuid>GPU-/p' -e '/<mig_device>/,/<\/mig_device>/p')
  show smi-slice
}

# sysfs stays the same from version to version, AMD's tools do not. Nodes are in ROCm's order.
amd() {
  for node in "$sys"/class/kfd/kfd/topology/nodes/*; do
    line_of "$node/gpu_id" || continue
    [ "$line" != 0 ] || continue
    minor=
    [ -r "$node/properties" ] && while read -r key value; do
      [ "$key" = drm_render_minor ] && minor=$value
    done <"$node/properties"
    device=$sys/class/drm/renderD$minor/device
    facts=${node##*/}
    for fact in vendor unique_id mem_info_vram_total mem_info_vram_used gpu_busy_percent device product_name; do
      line_of "$device/$fact" || line=-
      facts="$facts $line"
    done
    echo "amd renderD$minor $facts"
  done
}

# Or some tool might eat what follows the script on stdin.
probe "$@" </dev/null
