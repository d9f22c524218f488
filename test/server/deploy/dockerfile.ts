/** Reads a Dockerfile as far as its own tests need: no variables, no here-documents, no escape directive. */

export interface Instruction {
  /** Upper case. */
  readonly name: string
  /** Options such as `--from=build`, without the dashes. */
  readonly options: Readonly<Record<string, string>>
  /** The rest, on one line. */
  readonly rest: string
}

export interface Stage {
  /** What it is built from. */
  readonly base: string
  /** Its name, or an empty text. */
  readonly name: string
  /** Without FROM. */
  readonly instructions: readonly Instruction[]
}

const KNOWN = new Set(
  'FROM RUN CMD LABEL EXPOSE ENV COPY ENTRYPOINT VOLUME USER WORKDIR ARG STOPSIGNAL HEALTHCHECK SHELL'.split(
    ' ',
  ),
)

/** Throws an Error for what is no instruction. */
export function parseDockerfile(text: string): Stage[] {
  const stages: { base: string; name: string; instructions: Instruction[] }[] = []
  for (const line of logicalLines(text)) {
    const instruction = parseInstruction(line)
    const stage = stages.at(-1)
    if (instruction.name === 'FROM') {
      const [base = '', as = '', name = '', ...more] = instruction.rest.split(/\s+/)
      if (base === '' || (as !== '' && !/^as$/i.test(as)) || more.length > 0) throw new Error(`odd: ${line}`)
      stages.push({ base, name, instructions: [] })
    } else if (stage !== undefined) stage.instructions.push(instruction)
    else throw new Error(`before the first FROM: ${line}`)
  }
  return stages
}

/** The words of a command in exec form. Throws for the shell form, in which a shell stands between the program and its signals. */
export function execForm(text: string): string[] {
  const words: unknown = JSON.parse(text)
  if (!Array.isArray(words) || words.length === 0) throw new Error(`not in exec form: ${text}`)
  return words.map(String)
}

/** Lines without comments, each with those that it goes on in. */
function logicalLines(text: string): string[] {
  const lines: string[] = []
  let open = ''
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue
    open += open === '' ? line : ` ${line}`
    if (open.endsWith('\\')) open = open.slice(0, -1).trimEnd()
    else {
      lines.push(open)
      open = ''
    }
  }
  if (open !== '') throw new Error(`the last line goes on after the end: ${open}`)
  return lines
}

function parseInstruction(line: string): Instruction {
  const [, name = '', options = '', rest = ''] = /^(\w+)((?: +--[\w-]+=\S+)*) +(.+)$/.exec(line) ?? []
  if (!KNOWN.has(name)) throw new Error(`no such instruction: ${line}`)
  const pairs = [...options.matchAll(/--([\w-]+)=(\S+)/g)].map(([, option = '', value = '']) => [
    option,
    value,
  ])
  return { name, options: Object.fromEntries(pairs), rest }
}
