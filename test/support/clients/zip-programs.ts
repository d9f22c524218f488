/** Common programs that open ZIP files, and the entries that they see. */
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../processes/program.ts'
import type { Tool } from '../processes/tools.ts'

interface ZipProgram {
  readonly name: string
  readonly tool: Tool
  /** Command that lists the entries. */
  readonly list: (zip: string) => string[]
  /** Extracts the paths from its output. */
  readonly listed: (output: string) => string[]
  readonly unpack: (zip: string, folder: string) => string[]
  /** Command that reads every entry and verifies its checksum. */
  readonly test: (zip: string) => string[]
}

const lines = (output: string) => output.split('\n').filter((line) => line !== '')
const PYTHON_LIST = 'import sys, zipfile\nfor name in zipfile.ZipFile(sys.argv[1]).namelist(): print(name)'
const PYTHON_TEST =
  'import sys, zipfile\nbad = zipfile.ZipFile(sys.argv[1]).testzip()\nif bad: sys.exit("bad: " + bad)'

/** Programs that Debian packages. */
export const zipPrograms: readonly ZipProgram[] = [
  {
    name: 'unzip',
    tool: 'unzip',
    list: (zip) => ['unzip', '-Z1', zip],
    listed: lines,
    unpack: (zip, folder) => ['unzip', '-q', zip, '-d', folder],
    test: (zip) => ['unzip', '-tqq', zip],
  },
  {
    name: 'bsdtar',
    tool: 'bsdtar',
    list: (zip) => ['bsdtar', '-tf', zip],
    listed: lines,
    unpack: (zip, folder) => ['bsdtar', '-xf', zip, '-C', folder],
    test: (zip) => ['bsdtar', '-xOf', zip],
  },
  {
    name: 'zipfile of Python',
    tool: 'python3',
    list: (zip) => ['python3', '-c', PYTHON_LIST, zip],
    listed: lines,
    unpack: (zip, folder) => ['python3', '-m', 'zipfile', '-e', zip, folder],
    test: (zip) => ['python3', '-c', PYTHON_TEST, zip],
  },
  {
    name: '7-Zip',
    tool: '7z',
    list: (zip) => ['7z', 'l', '-ba', '-slt', zip],
    listed: (output) => [...output.matchAll(/^Path = (.*)$/gm)].map(([, path]) => path ?? ''),
    unpack: (zip, folder) => ['7z', 'x', '-bd', '-y', `-o${folder}`, zip],
    test: (zip) => ['7z', 't', '-bd', zip],
  },
]

/** Output of the command. Throws when it fails or warns. */
export async function run(command: readonly string[], quiet = false): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C.UTF-8', PYTHONUTF8: '1' }
  const whole = quiet ? ['sh', '-c', 'exec "$@" >/dev/null', 'sh', ...command] : command
  const { code, output, errors } = await runProgram(whole, { env })
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${errors.slice(0, 2000)}`)
  return output
}

/** Everything below the folder: files with their contents in hexadecimal, folders with a trailing slash. */
export function treeOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const full = join(folder, path)
    if (statSync(full).isDirectory()) found[`${path}/`] = ''
    else found[path] = readFileSync(full).toString('hex')
  }
  return found
}

/** Content of the archive, unpacked by the program into a new folder. */
export async function unpacked(
  program: ZipProgram,
  zip: string,
  folder: string,
): Promise<Record<string, string>> {
  mkdirSync(folder)
  await run(program.unpack(zip, folder))
  return treeOf(folder)
}

export interface ZipMember {
  readonly name: string
  readonly size: number
  /** ISO 8601 in UTC, to the second, from the extended timestamp. */
  readonly modified: string
}

/** Entries as `zipinfo` reports them, in order, with times in UTC. */
export async function zipMembers(zip: string): Promise<ZipMember[]> {
  const script = `
import sys, json, struct, datetime, zipfile
found = []
for info in zipfile.ZipFile(sys.argv[1]).infolist():
    extra, seconds = info.extra, None
    while len(extra) >= 4:
        tag, length = struct.unpack('<HH', extra[:4])
        if tag == 0x5455: seconds = struct.unpack('<i', extra[5:9])[0]
        extra = extra[4 + length:]
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    found.append({'name': info.filename, 'size': info.file_size, 'modified': moment.strftime('%Y-%m-%dT%H:%M:%SZ')})
print(json.dumps(found))`
  return JSON.parse(await run(['python3', '-c', script, zip]))
}
