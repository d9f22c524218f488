/** Programs that tests use and `npm ci` does not install. */
import { describe, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { reportNotRun } from './not-run.ts'

/** Debian's packages by program. */
const PACKAGES = {
  '7z': 'p7zip-full',
  apache2: 'apache2-bin',
  aria2c: 'aria2',
  bsdtar: 'libarchive-tools',
  caddy: 'caddy',
  chromium: 'chromium-headless-shell',
  curl: 'curl',
  'fail2ban-regex': 'fail2ban',
  faketime: 'faketime',
  ffmpeg: 'ffmpeg',
  fish: 'fish',
  haproxy: 'haproxy',
  'mkfs.ext4': 'e2fsprogs',
  'mkfs.xfs': 'xfsprogs',
  nginx: 'nginx',
  openssl: 'openssl',
  python3: 'python3',
  rclone: 'rclone',
  sqlite3: 'sqlite3',
  strace: 'strace',
  'systemd-analyze': 'systemd',
  unzip: 'unzip',
  xfs_io: 'xfsprogs',
  zsh: 'zsh',
} as const

export type Tool = keyof typeof PACKAGES

/** Chromium's engine without the interface of a browser takes half of the processor time. */
const HEADLESS = 'chromium-headless-shell'

const TOOLS = Object.keys(PACKAGES).filter((name): name is Tool => name in PACKAGES)

/** Path of the program, or null. Debian has some outside of an ordinary user's PATH. */
export function toolPath(tool: Tool): string | null {
  const which = (program: string) => Bun.which(program, { PATH: `${process.env.PATH}:/usr/sbin` })
  return (tool === 'chromium' ? which(HEADLESS) : null) ?? which(tool)
}

/** Why the programs cannot run, and what to do about it; null when all are installed. */
export function whyNoTools(...tools: readonly Tool[]): string | null {
  const missing = tools.filter((tool) => toolPath(tool) === null)
  if (missing.length === 0) return null
  const verb = missing.length === 1 ? 'is' : 'are'
  const packages = missing.map((tool) => PACKAGES[tool])
  return `${missing.join(', ')} ${verb} not installed: \`apt-get install ${packages.join(' ')}\``
}

/** Missing tools, each with the reason. */
export function missingTools(): { readonly tool: Tool; readonly reason: string }[] {
  return TOOLS.flatMap((tool) => {
    const reason = whyNoTools(tool)
    return reason === null ? [] : [{ tool, reason }]
  })
}

/**
 * A suite that uses the programs. Where one is missing the suite is skipped with a warning; with CI=true that
 * is a failure.
 */
export function describeWith(tools: readonly Tool[], title: string, tests: () => void): void {
  describe.skipIf(isLeftOut(title, whyNoTools(...tools)))(title, tests)
}

/** A test that uses the programs, skipped like a suite of `describeWith`. */
export function testWith(tools: readonly Tool[], title: string, body: () => Promise<void>): void {
  test.skipIf(isLeftOut(title, whyNoTools(...tools)))(title, body)
}

function isLeftOut(title: string, obstacle: string | null): boolean {
  if (obstacle === null) return false
  reportNotRun(title, obstacle)
  if (process.env.CI === 'true') {
    test(`${title}: what it runs is installed`, () => {
      throw new Error(obstacle)
    })
  }
  return true
}

/** Installs missing tools and `more`, on Debian as root. */
export function installTools(more: readonly string[]): void {
  const wanted = [...missingTools().map(({ tool }) => PACKAGES[tool]), ...more]
  const packages = Bun.which(HEADLESS) === null ? [...new Set([...wanted, HEADLESS])] : wanted
  if (packages.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  console.error(`installing for the tests: ${packages.join(' ')}`)
  apt('update', '-q')
  if (apt('install', ...packages)) return
  // Separately, so that one unavailable package does not prevent the others.
  for (const each of packages) {
    if (apt('install', each) || (each === HEADLESS && hasChromium())) continue
    console.error(`apt-get could not install ${each}; what needs it is left out`)
  }
}

/** The whole browser, where a release of Debian has no other. */
function hasChromium(): boolean {
  return toolPath('chromium') !== null || apt('install', 'chromium')
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
