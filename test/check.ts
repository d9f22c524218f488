/** `npm run check [-- <check>…]`: the static checks, all of them or those that are named. Fails when one of them fails. */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  types: ['tsc --noEmit', 'tsc --noEmit -p web', 'tsc --noEmit -p test/browser/page'],
  style: ['biome check .'],
  layers: ['bun --bun depcruise --config .dependency-cruiser.cjs src web', 'bun test test/mutate'],
  unused: ['knip'],
}

const named = process.argv.slice(2)
const unknown = named.filter((name) => !(name in CHECKS))
if (unknown.length > 0) {
  console.error(`There is no check "${unknown.join(', ')}", but: ${Object.keys(CHECKS).join(', ')}`)
  process.exit(2)
}

let failed = 0
for (const [name, commands] of Object.entries(CHECKS)) {
  if (named.length > 0 && !named.includes(name)) continue
  for (const command of commands) {
    const { exitCode } = Bun.spawnSync(command.split(' '), { stdio: ['ignore', 'inherit', 'inherit'] })
    if (exitCode === 0) continue
    console.error(`${name}: "${command}" failed`)
    failed++
  }
}
process.exitCode = failed > 0 ? 1 : 0
