// Finds the token for a service that listens on TCP: a file that the user names, a variable, or the file of the own service.

import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import path from "node:path";
import { readHomeDir } from "../../../account.js";
import { UserError } from "../../../errors.js";
import { expandHome } from "../../../input/machine/machine-places.js";
import { loadServiceFile } from "../../../service/client/service-file.js";
import { isToken, loadTokenFile, tokenFileIn } from "../../../service/client/token-file.js";
import { formatNetworkPlace, type NetworkPlace } from "../../options/queue/network-place.js";
import { serviceFile } from "./own-service-file.js";

/** Throws UserError if there is none. */
export async function tokenFor(place: NetworkPlace, file: string | null): Promise<string> {
  if (file !== null) return loadTokenFile(path.resolve(expandHome(file, readHomeDir())));
  const given = process.env.SSHOAL_TOKEN?.trim() ?? "";
  if (given !== "") return checked(given);
  const own = await ownToken(place);
  if (own !== null) return own;
  throw new UserError(`tcp://${formatNetworkPlace(place)} needs the token of its service`, {
    hint: "--token-file FILE, or SSHOAL_TOKEN; on its computer, sshoal serve status prints which file has it",
  });
}

function checked(token: string): string {
  if (isToken(token)) return token;
  throw new UserError("SSHOAL_TOKEN is no token: one has 43 letters, digits, - and _", {
    hint: "copy the file `token` of the service, and use --token-file",
  });
}

/** If the service of this account on this computer listens there; null: another one may. */
async function ownToken({ host, port }: NetworkPlace): Promise<string | null> {
  const file = serviceFile();
  const service = file === null ? null : loadServiceFile(file);
  if (!service?.listen?.endsWith(`:${port}`)) return null;
  const found = await lookup(host, { all: true }).catch(() => []);
  const isHere = found.length > 0 && found.every(({ address }) => isOwnAddress(address));
  return isHere ? loadTokenFile(tokenFileIn(service.state)) : null;
}

function isOwnAddress(address: string): boolean {
  if (/^127\.|^::1$/.test(address)) return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === address));
}
