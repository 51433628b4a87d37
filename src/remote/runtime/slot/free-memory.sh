# Measures what is free on the machine, without a fork: memory as the kernel and every cgroup leave it. load.sh measures the
# load of the cores.

sys=/sys
# In kB, more than any machine has.
no_limit=999999999999
# From "room": the lines that do not change, the name of the batch, the cores in thousandths, how much memory stays free for
# people, and how many slots there may be.
room_lines='' room_batch='' all_cores='' keep_mb=0 most_slots=0
# The word before the shell of a job, with --polite.
politely=''
# The facts for the allocator.
measured_facts=''

# Reads the file that the client wrote. Free memory and use of cards in it are as the client measured them.
read_room() {
  room_lines=
  while read -r word words; do
    case $word in
      cpu) all_cores=${words% *} busy_cores=${words#* } ;;
      slots) most_slots=$words ;;
      keep) keep_mb=${words%% *} ;;
      rule) [ "$words" != polite ] || ! command -v nice >/dev/null 2>&1 || politely='nice' ;;
      # In the question, "-" stands for this account.
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

# Sets $free_mb, "-" if it is unknown. Swap never counts.
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
  # Kernels before 3.14 have no MemAvailable. lxcfs has been seen to report 0 in all: then only cgroups count.
  left_kb=${available_kb:-$((free_kb - shared_kb))}
  [ "${total_kb:-0}" != 0 ] || left_kb=$no_limit
  each_cgroup memory heed_limit
  free_mb=$((left_kb / 1024))
  [ "$left_kb" != "$no_limit" ] || free_mb=-
}

# heed_limit VERSION DIR: lowers $left_kb to what the limit of this cgroup leaves. Page cache that can be dropped is free.
heed_limit() {
  if [ "$1" = 2 ]; then
    set -- "$2" memory.max memory.current inactive_file
  else
    set -- "$2" memory.limit_in_bytes memory.usage_in_bytes total_inactive_file
  fi
  { read -r memory_limit <"$1/$2"; } 2>/dev/null && [ "$memory_limit" != max ] || return 0
  # v1 writes almost 2^63 where there is no limit, and no shell can compare larger numbers.
  [ ${#memory_limit} -le 16 ] && { read -r current <"$1/$3"; } 2>/dev/null || return 0
  inactive=0
  while read -r name bytes; do
    [ "$name" != "$4" ] || { inactive=$bytes && break; }
  done 2>/dev/null <"$1/memory.stat"
  limit_kb=$(((memory_limit - current + inactive) / 1024))
  [ "$limit_kb" -ge "$left_kb" ] || left_kb=$limit_kb
  [ "$left_kb" -ge 0 ] || left_kb=0
}
