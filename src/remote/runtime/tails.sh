# Prints the end of what jobs printed. Runs in the spool.

# tails BYTES KEY…: the last bytes of both streams of each attempt, each line behind its key and stream. "newer" names the stream
# that was written to last.
tails() {
  bytes=$1
  shift
  for key; do
    for stream in out err; do
      [ -s "jobs/$key/$stream" ] || continue
      tail -c "$bytes" "jobs/$key/$stream" | tr -d '\000' | sed "s/^/$key $stream /"
      # The last line may have no end.
      echo
    done
    if [ "jobs/$key/err" -nt "jobs/$key/out" ]; then echo "$key newer err"; fi
  done
}
