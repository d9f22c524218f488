/** `npm run bench [-- <program>] [options]`: runs one of the programs below; the first one without a name. */
import { parseArgs } from 'node:util'

const PROGRAMS = {
  machine: { about: 'one machine beside its peers', run: async () => (await import('./machine.ts')).machine },
  nodes: {
    about: 'one node and three on PostgreSQL and S3',
    run: async () => (await import('./nodes.ts')).nodes,
  },
  scale: { about: '10,000 files and 1,000,000', run: async () => (await import('./scale.ts')).scale },
} as const

const USAGE = `npm run bench [-- <program>] [options]

${Object.entries(PROGRAMS)
  .map(([name, { about }]) => `  ${name.padEnd(16)} ${about}`)
  .join('\n')}

  --quick          smaller and shorter; like every run that is not whole it writes to the terminal only
  --rounds N       how many rounds; 5 unless told
  --only A,B       scenarios whose titles contain one of these
  --against DIR    measures the working tree in DIR too, in turn with this one (machine)
  --profile DIR    writes CPU profiles of Holdfast there; it runs slower then (machine)`

/** Options of a run. */
export interface Options {
  readonly quick: boolean
  readonly rounds: number
  readonly only: readonly string[]
  readonly against: string | undefined
  readonly profile: string | undefined
}

function options(): { readonly name: string; readonly options: Options } | null {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: flag,
      help: flag,
      rounds: text,
      only: text,
      against: text,
      profile: text,
    },
  })
  const [name = 'machine', ...more] = positionals
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 5))
  if (values.help || more.length > 0 || !Number.isInteger(rounds) || rounds < 1) return null
  const { against, profile, quick } = values
  return { name, options: { quick, rounds, only: values.only?.split(',') ?? [], against, profile } }
}

function isProgram(name: string): name is keyof typeof PROGRAMS {
  return Object.hasOwn(PROGRAMS, name)
}

if (import.meta.main) {
  const asked = options()
  if (asked === null || !isProgram(asked.name)) {
    console.log(USAGE)
    process.exit(process.argv.includes('--help') ? 0 : 2)
  }
  const run = await PROGRAMS[asked.name].run()
  await run(asked.options)
}
