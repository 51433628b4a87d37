/** What commands of tests inherit. Without the directory for claims (own-claims.ts) they would see the jobs of all other tests. */
export function surroundings() {
  const { PATH, SSHOAL_CLAIMS } = process.env;
  return { PATH, SSHOAL_CLAIMS };
}
