/** Stands in for `systemd-run` where no systemd runs: the part of its options and of its files that the wrapper uses. */
import { existsSync, readFileSync } from 'node:fs'

const words = process.argv.slice(2)
const options = words.splice(
  0,
  words.findIndex((word) => !word.startsWith('--')),
)
const properties = options.flatMap((option) => {
  const [, name, value] = /^--property=(\w+)=(.*)$/s.exec(option) ?? []
  return name === undefined || value === undefined ? [] : [{ name, value }]
})
const all = (name: string) => properties.filter((each) => each.name === name).map(({ value }) => value)

// Files win over Environment=, and the later file over the earlier.
const environment: Record<string, string> = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' }
for (const each of all('Environment')) Object.assign(environment, variablesIn(each))
for (const path of all('EnvironmentFile')) Object.assign(environment, variablesIn(readFileSync(path, 'utf8')))

const folder = all('WorkingDirectory')[0]?.replace(/^-/, '') ?? '/'
const { exitCode } = Bun.spawnSync(words, {
  cwd: existsSync(folder) ? folder : '/',
  env: environment,
  stdio: ['inherit', 'inherit', 'inherit'],
})
process.exit(exitCode)

/** As in systemd.exec(5): quotes around a value go, and within double ones a backslash protects `"`, `\`, `$` and a backtick. */
function variablesIn(text: string): Record<string, string> {
  const lines = /^[ \t]*(\w+)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\n]*))[ \t]*$/gms
  return Object.fromEntries(
    [...text.matchAll(lines)].map(([, name = '', double, single, bare = '']) => [
      name,
      double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? bare.trim(),
    ]),
  )
}
