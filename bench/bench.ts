/**
 * `npm run bench [-- <program>] [options]`: runs one program of this folder, or without a name the one that compares Holdfast on
 * one machine with its peers. `npm run bench -- nodes --help` tells the options of one.
 */
const PROGRAMS: Readonly<Record<string, () => Promise<unknown>>> = {
  backup: () => import('./backup.ts'),
  drop: () => import('./dropped-files.ts'),
  line: () => import('./line.ts'),
  nodes: () => import('./nodes.ts'),
  pages: () => import('./pages.ts'),
  relocation: () => import('./relocation.ts'),
  scale: () => import('./scale.ts'),
  store: () => import('./store.ts'),
}

const [name = ''] = process.argv.slice(2)
const program = PROGRAMS[name]
if (program !== undefined) process.argv.splice(2, 1)
else if (name !== '' && !name.startsWith('-')) {
  console.error(`There is no program "${name}" here, but: ${Object.keys(PROGRAMS).join(', ')}`)
  process.exit(2)
}
await (program ?? (() => import('./run.ts')))()
