# Measures the load of the cores, as all processes of the machine or the cgroup make it.

# The load at the last reading, in thousandths of cores, and that reading: when it was, and ticks of all cores.
busy_cores=- load_at=-10 last_all=0 last_idle=0
# The cores that this process may use without quotas of cgroups, which is only known where there are quotas; and for each
# cgroup with a quota, a line with its directory and the microseconds that it had used at the last reading.
allowed_cores='' quota_looks='' last_looks=''

# Sets $busy_cores from the difference to the last reading. If that was a moment ago, the load of before still counts. With a
# quota, the load is that of the cgroup: other processes of the host may use cores that are not ours.
measure_load() {
  case $all_cores in '' | -) return 0 ;; esac
  uptime_now
  elapsed=$((now - load_at))
  [ "$elapsed" -ge 10 ] || return 0
  read -r _ user nice system idle iowait irq softirq steal _ <"$proc/stat"
  idle=$((idle + iowait))
  all=$((user + nice + system + idle + irq + softirq + ${steal:-0}))
  ticks=$((all - last_all)) idle_ticks=$((idle - last_idle))
  # The first time, to find quotas.
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

# heed_quota VERSION DIR: lowers $idle_cores to what the quota of this cgroup leaves.
heed_quota() {
  used_us=
  if [ "$1" = 2 ]; then
    { read -r quota period <"$2/cpu.max" && read -r _ used_us <"$2/cpu.stat"; } 2>/dev/null || return 0
  else
    { read -r quota <"$2/cpu.cfs_quota_us" && read -r period <"$2/cpu.cfs_period_us"; } 2>/dev/null || return 0
    { read -r used_us <"$2/cpuacct.usage" || read -r used_us <"$sys/fs/cgroup/cpuacct${2#"$sys/fs/cgroup/cpu"}/cpuacct.usage"; } 2>/dev/null
    # It counts nanoseconds.
    [ -z "$used_us" ] || used_us=$((used_us / 1000))
  fi
  # Without a quota there is "max" or -1.
  case $quota$period in '' | *[!0-9]*) return 0 ;; esac
  [ "$period" -gt 0 ] || return 0
  [ -n "$allowed_cores" ] || count_allowed
  quota_looks="$quota_looks$newline$2 $used_us"
  case $last_looks in
    *"$newline$2 "*) lower_idle "$2" ;;
  esac
}

# lower_idle DIR: in thousandths of cores. A microsecond per hundredth of a second is a tenth of one.
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

# Sets $allowed_cores from a list such as 0-3,8.
count_allowed() {
  while read -r name list; do [ "$name" != Cpus_allowed_list: ] || break; done <"$proc/self/status"
  allowed_cores=0
  # shellcheck disable=SC2086
  for range in $(IFS=, && printf '%s ' $list); do
    allowed_cores=$((allowed_cores + (${range#*-} - ${range%-*} + 1) * 1000))
  done
  [ "$allowed_cores" != 0 ] || allowed_cores=$all_cores
}
