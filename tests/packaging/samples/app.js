// Bundled by each bundler, then run by Node: the core has to come out of the bundle alive.
import { init, isWarifuError, Outbox } from "warifu";

await init();
try {
  await Outbox.open({ owner: "aki", baseUrl: "https://api.example/" });
  console.log("opened");
} catch (error) {
  console.log(isWarifuError(error), error.code);
}
