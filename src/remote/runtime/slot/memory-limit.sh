# Limits the memory of a job with a file "memory-limit" (--limit-memory): its shell starts in a scope of the user's systemd.

# Of the keeper: "yes" or "no" once it has tried whether limits work.
can_limit=''

# Sets $scope to the words that start a shell in such a scope; empty: the job has no limit.
find_scope() {
  scope=''
  [ -e "$dir/memory-limit" ] || return 0
  limit_mb=
  { read -r limit_mb <"$dir/memory-limit"; } 2>/dev/null
  case $limit_mb in '' | *[!0-9]*) return 0 ;; esac
  [ -n "$can_limit" ] || find_limits
  [ "$can_limit" = no ] ||
    scope="systemd-run --user --scope --quiet -p MemoryMax=${limit_mb}M -p MemorySwapMax=0"
}

find_limits() {
  can_limit=yes
  try_limit
  [ -n "$unlimited" ] || return 0
  can_limit=no
  say "unlimited $slot $unlimited"
}
