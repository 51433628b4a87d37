// Lists settings of a configuration that ssh2 does not support, in words.

import type { Settings } from "../config/settings.js";

export function findOpensshReasons(settings: Settings, defaults: Settings): string[] {
  const value = (keyword: string) => settings.get(keyword)?.[0] ?? "";
  const isSet = (keyword: string) => value(keyword) !== "" && value(keyword) !== "none";
  const isOwn = (keyword: string) => value(keyword) !== (defaults.get(keyword)?.[0] ?? "");
  const isOn = (keyword: string) => ["yes", "true"].includes(value(keyword)) && isOwn(keyword);
  const has = (name: string) => `the configuration has a ${name}`;
  const named = (names: readonly string[], isThere: (keyword: string) => boolean) =>
    names.filter((name) => isThere(name.toLowerCase()));
  return [
    ...named(SET, isSet).map(has),
    ...named(SWITCHES, isOn).map((name) => `the configuration turns ${name} on`),
    ...named(LISTS, isOwn).map((name) => `the configuration has its own ${name}`),
    ...(isOwn("securitykeyprovider") ? [has("SecurityKeyProvider")] : []),
    ...(isSet("preferredauthentications") && !value("preferredauthentications").includes("publickey")
      ? ["its PreferredAuthentications leave public keys out"]
      : []),
    ...(["no", "false"].includes(value("pubkeyauthentication"))
      ? ["the configuration turns PubkeyAuthentication off"]
      : []),
    ...((settings.get("identityfile") ?? []).some(isBeyondUs)
      ? ["its IdentityFile has a token that only ssh expands"]
      : []),
  ];
}

/** %C is a hash, %j the jump host; `~alice` is another user's home. */
function isBeyondUs(file: string): boolean {
  return /%[^dhiklLnpru%]/.test(file.replaceAll("%%", "")) || /^~[^/]/.test(file);
}

const SET = [
  "ProxyCommand",
  "CertificateFile",
  "PKCS11Provider",
  "KnownHostsCommand",
  "BindAddress",
  "BindInterface",
];

const SWITCHES = [
  "GSSAPIAuthentication",
  "HostbasedAuthentication",
  "VerifyHostKeyDNS",
  "NoHostAuthenticationForLocalhost",
];

const LISTS = [
  "Ciphers",
  "MACs",
  "KexAlgorithms",
  "HostKeyAlgorithms",
  "PubkeyAcceptedAlgorithms",
  "CASignatureAlgorithms",
];
