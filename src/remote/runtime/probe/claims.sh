# Prints the claims of this user's live slots, and how much memory their jobs hold.

tell_claims() {
  line_of "$proc/sys/kernel/random/boot_id" || return
  boot_id=$line
  resident=
  for base; do
    for claim in "$base"/batches/*/slots/*/claim; do
      # A link may lead to a directory that another account has made since.
      [ -s "$claim" ] && [ -O "${claim%/claim}" ] && tell_claim "${claim%/claim}"
    done
  done
  [ -n "$resident" ] || return
  tell_page_size
  # One sed for all of them: `read` reads byte by byte, which takes 1.8 s for 3000 processes instead of 0.05.
  sed -n "$resident" "$proc"/[0-9]*/stat 2>/dev/null
}

tell_claim() {
  pid='' started='' boot=''
  { read -r pid started boot _ <"$1/loop"; } 2>/dev/null
  # A line without a host is of format 1, and of this host.
  [ "$boot" = "$boot_id@$hostname" ] || [ "$boot" = "$boot_id" ] || return
  has_started "$pid" "$started" && read_claim "$1/claim" || return
  session=-
  { read -r session job_started _ <"$1/job"; } 2>/dev/null
  case $session in
    '' | *[!0-9]*) session=- ;;
    *) has_started "$session" "$job_started" || is_gone "$session" || session=- ;;
  esac
  # In /proc/*/stat after the last ")": the 3rd word is the group, the 4th the session, the 22nd the resident pages. A
  # job leads its session, or a group in its slot's session.
  [ "$session" = - ] || resident="$resident
s/^.*) [^ ]* [^ ]* [^ ]* $session \([^ ]* \)\{17\}\([0-9]*\) .*/$nonce rss $session \2/p
t
s/^.*) [^ ]* [^ ]* $session \([^ ]* \)\{18\}\([0-9]*\) .*/$nonce rss $session \2/p
t"
  batch=${1%/slots/*}
  say claim "$pid ${1##*/} $session $memory $cpus $gpu_memory $gpu_use $gpu $machine $cards ${batch##*/}"
}

# A pid identifies a process only together with its start time. The 2nd field of stat may contain spaces and brackets.
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

# The page size is not always 4 kB, and getconf does not exist everywhere.
tell_page_size() {
  { while read -r key value _; do
    [ "$key" = KernelPageSize: ] && say pagesize "$value" && break
  done <"$proc/self/smaps"; } 2>/dev/null
}
