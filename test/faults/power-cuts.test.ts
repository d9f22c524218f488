// Only in test:all: rounds of power cuts.
import { expect, test } from 'bun:test'
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { reportNotRun } from '../support/processes/not-run.ts'
import { describeWith } from '../support/processes/tools.ts'
import {
  FILE_SYSTEMS,
  POWER_CUT_TOOLS,
  volatileDisk,
  whyNoPowerCuts,
} from '../support/storage/volatile-disk.ts'
import { backupCutRounds } from './backups/backup-cut-rounds.ts'
import { crashRounds, powerCutMachine } from './crash-rounds.ts'

const ROUNDS = 6

const obstacle = whyNoPowerCuts()
if (obstacle !== null) reportNotRun('power cuts', obstacle)
else {
  describeWith(POWER_CUT_TOOLS, 'a power cut', () => {
    test.each(FILE_SYSTEMS)('loses what was not synced, on %s as these tests have it', (kind) => {
      using disk = volatileDisk(kind)
      const path = join(disk.path, 'file')
      writeFileSync(path, 'synced')
      const file = openSync(path, 'r+')
      fsyncSync(file)
      writeSync(file, 'in the page cache', 0)
      disk.cut()
      expect(() => fsyncSync(file)).toThrow(/EIO/)
      closeSync(file)
      disk.comeBack()
      expect(readFileSync(path, 'utf8')).toBe('synced')
    })

    test.each(FILE_SYSTEMS)(
      'takes nothing that was acknowledged from %s, and leaves nothing else',
      async (kind) => {
        const seed = Math.floor(Math.random() * 1_000_000)
        console.log(`power cuts of ${kind}: seed ${seed}`)
        const figures = await crashRounds({ rounds: ROUNDS, seed, on: () => powerCutMachine(kind) })
        console.log(`power cuts: ${JSON.stringify(figures)}`)
        expect(figures.uploads).toBeGreaterThan(ROUNDS)
        expect(figures.unanswered).toBeGreaterThan(ROUNDS)
      },
      120_000 + ROUNDS * 40_000,
    )

    test('leaves a backup with whole points alone, and a repair with whole contents', async () => {
      const seed = Math.floor(Math.random() * 1_000_000)
      const figures = await backupCutRounds({ rounds: 1, seed, kind: 'ext4' })
      console.log(`power cuts of backups: seed ${seed}, ${JSON.stringify(figures)}`)
      expect(figures.rounds).toBe(1)
    }, 160_000)
  })
}
