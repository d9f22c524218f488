import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config.ts'
import { temporaryFolder } from '../../support/processes/child.ts'
import { describeWith } from '../../support/processes/tools.ts'

const DEPLOY = join(import.meta.dir, '../../../deploy')
const UNIT = readFileSync(join(DEPLOY, 'holdfast.service'), 'utf8')
/** In tenths, on systemd's scale from 0 to 10. */
const MOST_EXPOSED = 20

describeWith(['systemd-analyze'], 'the systemd unit', () => {
  test('systemd finds nothing wrong in it', () => {
    expect(analyze(['verify'])).toEqual({ exitCode: 0, complaints: '' })
    // And it would say so.
    expect(analyze(['verify'], UNIT.replace('ProtectClock=', 'ProtectClok=')).complaints).toContain(
      'ProtectClok',
    )
  })

  test('leaves the service little beyond what it needs', () => {
    const security = ['security', '--offline=true', `--threshold=${MOST_EXPOSED}`]
    expect(analyze(security)).toMatchObject({ exitCode: 0 })
    expect(analyze(security, UNIT.replace(/^(Protect|Restrict|SystemCall).*\n/gm, ''))).not.toMatchObject({
      exitCode: 0,
    })
  })
})

test('the unit gives the server more time to stop than it takes', () => {
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(UNIT)?.[1])).toBeGreaterThan(35)
})

test('the program takes the settings of the unit and its file, also with every line of it in use', () => {
  const own = [...UNIT.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])
  const file = readFileSync(join(DEPLOY, 'holdfast.env'), 'utf8')
  const used = /^(HOLDFAST_\w+)=(.*)$/gm
  const offered = /^(?:# )?(HOLDFAST_\w+)=(.*)$/gm
  for (const lines of [used, offered]) {
    const settings = [...file.matchAll(lines)].map(([, name, value]) => [name, value || 'something'])
    expect(settings.length).toBeGreaterThan(1)
    expect(loadConfig(Object.fromEntries([...own, ...settings])).dataDir).toBe('/var/lib/holdfast')
  }
})

/** What systemd says about the unit; the program that it starts is one that is here. */
function analyze(options: readonly string[], unit = UNIT): { exitCode: number; complaints: string } {
  using folder = temporaryFolder()
  const path = join(folder.path, 'holdfast.service')
  const here = unit
    .replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`)
    .replace(/^Documentation=.*$/m, '')
  writeFileSync(path, here)
  const { exitCode, stderr } = Bun.spawnSync(['systemd-analyze', ...options, path], {
    env: { ...process.env, SYSTEMD_LOG_LEVEL: 'notice' },
  })
  return { exitCode, complaints: stderr.toString() }
}
