/** Programs that tests run and `npm ci` does not bring: where each comes from, and what to do without it. */
import { describe, test } from 'bun:test'
import { existsSync } from 'node:fs'

/** Debian's packages by program. */
const PACKAGES = {
  '7z': 'p7zip-full',
  bsdtar: 'libarchive-tools',
  caddy: 'caddy',
  chromium: 'chromium',
  curl: 'curl',
  ffmpeg: 'ffmpeg',
  fish: 'fish',
  nginx: 'nginx',
  openssl: 'openssl',
  python3: 'python3',
  rclone: 'rclone',
  'systemd-analyze': 'systemd',
  unzip: 'unzip',
  zsh: 'zsh',
} as const

export type Tool = keyof typeof PACKAGES

const TOOLS = Object.keys(PACKAGES).filter((name): name is Tool => name in PACKAGES)

/** Where the program is, or null. Debian puts some where only root's path leads. */
export function toolPath(tool: Tool): string | null {
  return Bun.which(tool, { PATH: `${process.env.PATH}:/usr/sbin` })
}

/** What stands in the way of running the programs, and what to do about it; null when all are there. */
export function whyNoTools(...tools: readonly Tool[]): string | null {
  const missing = tools.filter((tool) => toolPath(tool) === null)
  if (missing.length === 0) return null
  const verb = missing.length === 1 ? 'is' : 'are'
  const packages = missing.map((tool) => PACKAGES[tool])
  return `${missing.join(', ')} ${verb} not installed: \`apt-get install ${packages.join(' ')}\``
}

/** The tools that are missing, each with its reason. */
export function missingTools(): { readonly tool: Tool; readonly reason: string }[] {
  return TOOLS.flatMap((tool) => {
    const reason = whyNoTools(tool)
    return reason === null ? [] : [{ tool, reason }]
  })
}

/**
 * A suite that runs the programs. Where one is missing the suite is left out and says so; with CI=true that is a failure.
 */
export function describeWith(tools: readonly Tool[], title: string, tests: () => void): void {
  describe.skipIf(isLeftOut(title, whyNoTools(...tools)))(title, tests)
}

/** A test that runs the programs, left out as `describeWith` leaves out a suite. */
export function testWith(tools: readonly Tool[], title: string, body: () => Promise<void>): void {
  test.skipIf(isLeftOut(title, whyNoTools(...tools)))(title, body)
}

function isLeftOut(title: string, obstacle: string | null): boolean {
  if (obstacle === null) return false
  console.warn(`${title}: not run, because ${obstacle}`)
  if (process.env.CI === 'true') {
    test(`${title}: what it runs is installed`, () => {
      throw new Error(obstacle)
    })
  }
  return true
}

/** Installs what is missing of the tools and of `more`, where this is Debian and we are root. */
export function installTools(more: readonly string[]): void {
  const packages = [...missingTools().map(({ tool }) => PACKAGES[tool]), ...more]
  if (packages.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  console.error(`installing for the tests: ${packages.join(' ')}`)
  apt('update', '-q')
  if (apt('install', ...packages)) return
  // One package that cannot be had must not keep the others away.
  for (const each of packages) {
    if (!apt('install', each)) console.error(`apt-get could not install ${each}; what needs it is left out`)
  }
}

function apt(command: 'update' | 'install', ...words: readonly string[]): boolean {
  const options = command === 'install' ? ['-y', '-q', '--no-install-recommends'] : []
  const { success } = Bun.spawnSync(['apt-get', command, ...options, ...words], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
  })
  return success
}
