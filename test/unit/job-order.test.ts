/** The order of the background jobs, which come from many parts. */
import { expect, test } from 'bun:test'
import { jobsOf } from '../../src/app.ts'
import type { Job } from '../../src/core/jobs/jobs.ts'

function job(name: string): Job {
  return { name, on: 'one node', every: 1000, run: async () => {} }
}

test('jobs stand in their order, whatever the order of the parts', () => {
  const jobs = jobsOf([
    { jobs: [job('remove garbage'), job('hide unused files')] },
    { jobs: [job('purge deleted files'), job('beat')] },
  ])
  expect(jobs.map(({ name }) => name)).toEqual([
    'beat',
    'hide unused files',
    'purge deleted files',
    'remove garbage',
  ])
})

test('a job that the order does not name stops the start', () => {
  expect(() => jobsOf([{ jobs: [job('polish the silver')] }])).toThrow('polish the silver')
})
