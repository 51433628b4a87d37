# Finds the cgroups of this process, for the probe and for slots. Runs with $proc and $sys set.

# each_cgroup CONTROLLER FUNCTION: calls FUNCTION VERSION DIR for the own cgroup and each of its ancestors.
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

# A container may see its path outside, which does not exist inside: a missing directory has no limits to read.
each_level() {
  path=${3%/}
  # The own cgroup is outside of this namespace, or the path is unusual: then the root of the namespace is used.
  case $path in /..* | [!/]*) path= ;; esac
  while :; do
    "$4" "$1" "$2$path"
    [ -n "$path" ] || break
    path=${path%/*}
  done
}
