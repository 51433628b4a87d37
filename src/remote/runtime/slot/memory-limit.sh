# Limits the memory of a job with a file "memory-limit" (--limit-memory): its shell starts in a scope of the user's systemd.

# Of the keeper: "yes" or "no" once it has tried whether limits work.
can_limit=''

# Sets $scope to the words that start a program in such a scope; empty: the job has no limit.
find_scope() {
  scope=''
  [ -e "$dir/memory-limit" ] || return 0
  limit_mb=
  { read -r limit_mb <"$dir/memory-limit"; } 2>/dev/null
  case $limit_mb in '' | *[!0-9]*) return 0 ;; esac
  [ -n "$can_limit" ] || find_limits
  [ "$can_limit" = yes ] || return 0
  scope="systemd-run --user --scope --quiet -p MemoryMax=${limit_mb}M -p MemorySwapMax=0"
  # Emptied here, because the shell in the scope has the umask of a login.
  { : >"$mine/scope"; } 2>/dev/null
}

find_limits() {
  can_limit=yes
  try_limit
  [ -n "$unlimited" ] || return 0
  can_limit=no
  say "unlimited $slot $unlimited"
}

# Runs in the scope, before the job: note_scope FILE CGROUPS PROC PROGRAM... writes to FILE where the kernel counts its kills, with the
# counts so far. With version 2 of control groups, the slice around the scope counts them, too, and outlives it.
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

# was_killed_in_scope CODE: true if the kernel killed a process of the job. If its scope is gone, the count of the slice must have
# risen, and a signal must have ended the job, because the slice has other scopes.
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
