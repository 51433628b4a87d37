# Makes the directory of a job with a file "keep" (--keep-dir). It belongs to the job from the start, so that it stays
# with the job however the job, its keeper or the machine ends. The files of earlier attempts are put over a copy of the
# tree.

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

# Runs before anything is moved, so that a full disk changes nothing.
copy_trees() {
  while read -r what name; do
    [ "$what" != tree ] || copy "$root/trees/$name" "$dir/making/$name" || return 1
  done <"$dir/keep"
}

# If this is killed halfway, some files of an attempt are with this job, and the rest is where it was. The next attempt
# gets both.
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

# lay_over FROM TO: moves everything in FROM to TO, and replaces entries of the same name. Directories are merged. In a
# subshell, because it calls itself.
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
