echo "one job"
echo "jobs will tell you if they fail" && exit 1
# Lines that begin with # are not jobs, but they count as lines: the next job is job 4.
echo "a job can be several commands" && echo "whatever bash understands"
seq 1 1000 | awk '{ sum += $1 } END { print "pipes work too:", sum }'
mkdir -p results && date > results/finished_at.txt && echo "files a job writes are brought back"
echo "the card of this job: ${CUDA_VISIBLE_DEVICES:-none was asked for}"
