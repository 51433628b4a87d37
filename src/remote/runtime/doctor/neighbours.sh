# Looks at what accounts of the machine share: the directories of claims, in which others may have put anything, and whether
# the machine is a container that shares nothing with its host.

# The number of the IPC namespace that a host has from its start. /dev/shm goes with that namespace in all common containers.
host_ipc='ipc:[4026531839]'

tell_neighbours() {
  claims_root=${SSHOAL_CLAIMS:-/tmp}
  say at "the claims in $claims_root"
  # A directory that no claim of its account can be in, and whatever slots never read as a claim.
  list_odd | head -n 20 | while IFS= read -r odd; do say odd-claim "$odd"; done
  ipc=$(readlink /proc/self/ns/ipc)
  [ -z "$ipc" ] || [ "$ipc" = "$host_ipc" ] || say own-shm
}

list_odd() {
  for dir in "$claims_root"/.sshoal-claims-*; do
    if [ -L "$dir" ] || { [ -e "$dir" ] && [ ! -d "$dir" ]; }; then
      printf '%s\n' "$dir"
    elif [ -d "$dir" ]; then
      is_named_for_owner || printf '%s\n' "$dir"
      find "$dir/" -mindepth 1 -maxdepth 1 ! -name '.*' \( ! -type f -o -size +8 -o ! -name '*@*.*' \)
    fi
  done
}

is_named_for_owner() {
  uid=$(stat -c %u "$dir")
  case ${dir##*/} in ".sshoal-claims-$uid" | ".sshoal-claims-$uid".[0-9]) ;; *) return 1 ;; esac
}
