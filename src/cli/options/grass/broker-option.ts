// The options --broker and --token-file: whose queues are meant.

import { type Command, Option } from "commander";
import type { AskedServer } from "../queue/server-options.js";
import { resolveSsh } from "../ssh-options.js";

export interface RawBroker {
  readonly broker?: string;
  readonly tokenFile?: string;
}

export function describeBroker(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--broker <address>",
        "use the queues at HOST:PORT, with a token, or of USER@HOST, through ssh (default: of this computer)",
      ),
    )
    .option("--token-file <file>", "read the token for HOST:PORT from this file");
}

export function brokerOf({ broker, tokenFile }: RawBroker): AskedServer {
  return {
    ...resolveSsh({}),
    typed: broker === undefined ? null : serverOf(broker),
    byDefault: null,
    tokenFile: tokenFile ?? null,
  };
}

/** As --server takes it: an address with a port is one of TCP, as in Grass; any other is for ssh. */
function serverOf(address: string): string {
  return !address.includes("@") && /:\d+$/.test(address) ? `tcp://${address}` : address;
}

/** In words that were not read yet. */
export function rawBrokerIn(words: readonly string[]): RawBroker {
  const [broker, tokenFile] = ["--broker", "--token-file"].map((flag) => valueIn(words, flag));
  return { ...(broker !== undefined && { broker }), ...(tokenFile !== undefined && { tokenFile }) };
}

function valueIn(words: readonly string[], flag: string): string | undefined {
  const at = words.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const word = words[at];
  return word === flag ? words[at + 1] : word?.slice(flag.length + 1);
}
