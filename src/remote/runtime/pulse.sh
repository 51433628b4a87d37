# Prints whether anything goes on in a spool, and changes nothing. Runs in the spool, after lib.sh and logs.sh.

. ./claim/with-client.sh

# pulse: prints which event logs there are, and how many processes of slots live, here or elsewhere.
pulse() {
  find_logs
  echo "logs$logs"
  alive=0
  for process in slots/*/loop slots/*/keeper slots/*/job; do
    is_dead "$process" || alive=$((alive + 1))
  done
  echo "alive $alive"
}
