// What `@eyevinn/cat` makes of passes: passes.mjs make, or passes.mjs open TOKEN PATH…
import cat from "@eyevinn/cat";

const key = Buffer.from(Array.from({ length: 32 }, (_, n) => n));
const keys = new cat.CAT({ keys: { k1: key }, expectCwtTag: true });
const [, , what, token, ...paths] = process.argv;

if (what === "make") {
  const claims = {
    iss: "pavilion",
    sub: "session-1",
    exp: 2_000_000_000,
    nbf: 1_700_000_000,
    cti: "6f6e65",
    catu: { path: { "prefix-match": "/final/" } },
    catm: ["GET", "HEAD"],
    catgeoiso3166: ["IE"],
    catnip: ["192.0.2.0/24", "2001:db8::/32", 64_512],
    catr: { type: "header", expadd: 300, deadline: 120 },
  };
  const made = await keys.generateFromJson(claims, { type: "mac", alg: "HS256", kid: "k1" });
  console.log(JSON.stringify(made));
} else {
  const verdicts = [];
  for (const path of paths) {
    const url = new URL(path, "https://edge.example");
    try {
      const said = await keys.validate(token, "mac", { issuer: "pavilion", url, ip: "192.0.2.7" });
      verdicts.push({ claims: said.cat?.claims, error: said.error?.message });
    } catch (error) {
      verdicts.push({ error: error.message });
    }
  }
  console.log(JSON.stringify(verdicts));
}
