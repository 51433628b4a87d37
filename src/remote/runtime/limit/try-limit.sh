# Finds out whether a limit to the memory of a process works here.

# Sets $unlimited to the reason if it does not; empty: it works. A systemd that cannot limit memory accepts the limit all the same, so
# the kernel is asked which one holds.
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

# Of this process: version 2 of control groups has an empty kind, version 1 names them.
print_limits='while IFS=: read -r _ kind path; do
  case ,$kind, in
    ,,) file=/sys/fs/cgroup$path/memory.max ;;
    *,memory,*) file=/sys/fs/cgroup/memory$path/memory.limit_in_bytes ;;
    *) continue ;;
  esac
  [ ! -r "$file" ] || { read -r limit <"$file" && printf "%s " "$limit"; }
done </proc/self/cgroup
exit 0'
