import { expect, test } from 'bun:test'
import type { StatisticsDay, StatisticsNow } from '../../../src/contract/operations.ts'
import { doctorTitlesEn } from '../../../src/pages/texts/admin-en.ts'
import { doctorTitlesDe } from '../../../src/pages/texts/doctor-de.ts'
import { fromLocalTime, toLocalTime } from '../../../web/admin/notice/local-time.ts'
import { samplesOf } from '../../../web/admin/overview/samples.ts'

test('how it stood is told from the first day it was looked at, and stays so while nobody looks', () => {
  const day = (at: number, files: number | null): StatisticsDay => ({
    day: `2026-01-0${at}`,
    requests: 0,
    bytes_in: 0,
    bytes_out: 0,
    uploads: 0,
    downloads: 0,
    accounts: null,
    files,
    storage_used: null,
  })
  const now: StatisticsNow = {
    accounts: 2,
    files: 9,
    storage_used: 4096,
    storage_reserved: 0,
    storage_in_bins: 0,
    guests: { files: 0, storage_used: 0 },
    disk_free: null,
    reports_open: 0,
    contents_damaged: 0,
    unknown_proxies: [],
  }
  const days = [day(1, null), day(2, 7), day(3, null), day(4, 0), day(5, 3)]
  expect(samplesOf('files', days, now)).toEqual({
    days: ['2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05'],
    values: [7, 7, 0, 9],
  })
  expect(samplesOf('accounts', days, now)).toEqual({ days: ['2026-01-05'], values: [2] })
})

test('a field for a time gives back the time that was put into it', () => {
  const time = '2026-07-31T16:30:00.000Z'
  expect(fromLocalTime(toLocalTime(time))).toBe(time)
  expect(toLocalTime(time)).toMatch(/^2026-(07-31|08-01)T\d\d:\d\d$/)
  expect([toLocalTime(null), fromLocalTime('')]).toEqual(['', null])
})

test('every check of the set-up has a title in both languages', async () => {
  const guide = await Bun.file(`${import.meta.dir}/../../../docs/operations/doctor.md`).text()
  const rows = guide.split('\n').filter((line) => line.startsWith('| `'))
  const checks = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([a-z0-9-]+)`/g)].map(([, check = '']) => check),
  )
  expect(checks).toContain('backups')
  for (const titles of [doctorTitlesEn, doctorTitlesDe]) {
    expect(checks.filter((check) => titles[check] === undefined)).toEqual([])
  }
})
