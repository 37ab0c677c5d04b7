// What the recipe in docs/pass makes of passes: recipe.mjs TOKEN SECRET PATH COUNTRY NOW …
import { refusal } from "../../docs/pass/pass.mjs";

const [, , token, secret, ...asks] = process.argv;
const reasons = [];
for (let n = 0; n < asks.length; n += 3) {
  const [path, country, nowS] = [asks[n], asks[n + 1], Number(asks[n + 2])];
  reasons.push(await refusal(token, { k1: secret }, { method: "GET", path, country, issuers: ["pavilion"], nowS }));
}
console.log(JSON.stringify(reasons));
