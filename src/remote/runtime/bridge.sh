# Joins stdin and stdout to the unix socket $socket with Node.js, where sshd does not do that itself. Prints `open` first.
# $node: the program that runs the service; it may be gone since.
code='
const { lstatSync } = require("fs");
const path = process.argv[1];
const fail = (why) => { console.log("closed " + why); process.exit(1); };
try {
  const found = lstatSync(path);
  if (!found.isSocket() || found.uid !== process.geteuid()) fail("it is not a socket of this account");
} catch (error) { fail(error.code); }
const socket = require("net").connect({ path, allowHalfOpen: true });
socket.once("error", (error) => fail(error.code));
socket.once("connect", () => {
  process.stdout.write("open\n");
  process.stdin.pipe(socket).pipe(process.stdout);
  process.stdout.on("error", () => socket.destroy());
  socket.on("close", () => process.stdin.destroy());
});
'
if [ -x "$node" ]; then
  exec "$node" -e "$code" "$socket"
elif command -v node >/dev/null 2>&1; then
  exec node -e "$code" "$socket"
else
  echo "closed there is no Node.js"
fi
