# Prints how busy the cores are, how much memory is free, and the limits of cgroups.

# Printed twice, at the start and at the end: the difference shows the current load.
tell_cpu_use() {
  now=
  line_of "$proc/uptime" && to_hundredths "${line%% *}" && say uptime "$line"
  line_of "$proc/stat" && say stat "$line"
  each_cgroup cpu tell_cpu_limit
}

# Converts "12.34" to 1234, in $now. The 1 before the fraction prevents 08 from being read as octal.
to_hundredths() {
  case $1 in *[!0-9.]* | *.*.* | *.) return 1 ;; *.[0-9][0-9]) now=$((${1%.*} * 100 + 1${1#*.} - 100)) ;; esac
}

sleep_the_rest() {
  left=$apart
  line_of "$proc/uptime" && to_hundredths "${line%% *}"
  [ -n "$begun_at" ] && left=$((apart - now + begun_at))
  [ "$left" -gt 0 ] || return
  [ "$left" -gt 9 ] || left=0$left
  # Some builds of busybox sleep only whole seconds.
  sleep "0.$left" 2>/dev/null || sleep 1
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
