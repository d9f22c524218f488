import * as z from 'zod/mini'
import {
  component,
  dataOf,
  dayField,
  described,
  optionalTimestamp,
  sizeField,
  timestampField,
} from './fields.ts'

const sampled = z.nullable(z.int())

const day = z.object({
  day: described(dayField, { example: '2026-01-31', description: 'In UTC' }),
  requests: z.int(),
  bytes_in: sizeField,
  bytes_out: sizeField,
  uploads: z.int(),
  downloads: z.int(),
  accounts: described(sampled, { description: 'These three as they were last looked at on that day' }),
  files: sampled,
  storage_used: sampled,
})
export type StatisticsDay = z.infer<typeof day>

const unknownProxy = z.object({
  peer: described(z.string(), { example: '10.0.0.7' }),
  header: described(z.string(), { example: 'x-forwarded-for' }),
})

const now = z.object({
  accounts: z.int(),
  files: z.int(),
  storage_used: sizeField,
  storage_reserved: described(sizeField, { description: 'Set aside for uploads under way' }),
  storage_in_bins: sizeField,
  guests: z.object({ files: z.int(), storage_used: sizeField }),
  disk_free: z.nullable(sizeField),
  reports_open: z.int(),
  contents_damaged: described(z.int(), {
    description: 'Contents of which bytes are lost, so that their files are not sent',
  }),
  unknown_proxies: described(z.array(unknownProxy), {
    description:
      'Peers of the last seven days that send a header of proxies and are not in HOLDFAST_TRUSTED_PROXIES: all their visitors count as one',
  }),
})
export type StatisticsNow = z.infer<typeof now>

const outage = z.object({
  began_at: timestampField,
  ended_at: timestampField,
  cause: z.enum(['stopped', 'clock set ahead', 'clock set back']),
})
export type StatisticsOutage = z.infer<typeof outage>

const statistics = component(
  'Statistics',
  z.object({
    version: described(z.string(), {
      example: '0.1.0+3174d472a0c1',
      description: 'What the node that answers runs: the release, and the commit where it is known',
    }),
    now,
    days: z.array(day),
    outages: described(z.array(outage), {
      description:
        'The last five times of over an hour in which the service did not run, the latest first. Every file is kept that much longer',
    }),
  }),
)
export type Statistics = z.infer<typeof statistics>

export const statisticsAnswer = dataOf(statistics)

const nodeId = described(z.string(), { example: 'b7Qk2mXw9sLr' })

const backgroundJob = component(
  'BackgroundJob',
  z.object({
    name: described(z.string(), { example: 'purge deleted files' }),
    state: z.enum(['waiting', 'running', 'set aside']),
    node: described(z.nullable(nodeId), { description: 'Where it runs' }),
    ended_at: optionalTimestamp,
    failures: described(z.int(), { description: 'In a row' }),
    failure: described(z.nullable(z.string()), { example: 'Error: the store does not answer' }),
    failed_at: optionalTimestamp,
  }),
)
export type BackgroundJob = z.infer<typeof backgroundJob>

const jobs = z.object({ jobs: z.array(backgroundJob), thumbnails_waiting: z.int() })
export type Jobs = z.infer<typeof jobs>

export const jobsAnswer = dataOf(jobs)

const scrub = z.object({
  days: described(z.int(), { description: 'Within which all stored bytes are read again' }),
  rate: described(sizeField, { example: 16_777_216, description: 'Bytes a second at most' }),
  oldest_unverified_at: described(optionalTimestamp, {
    description:
      'When the bytes that wait the longest were last found sound, or stored; null where there are none',
  }),
  due_contents: described(z.int(), {
    example: 12,
    description: 'Contents that are due to be read; 10,000 are counted at most',
  }),
  due_bytes: described(sizeField, { example: 73_400_320 }),
  due_exact: described(z.boolean(), { description: 'Whether that is all that is due' }),
  disk_busy: described(z.boolean(), {
    description:
      'Whether the disk of the node that answers is busy: then what is due waits, until its days are over',
  }),
  state: backgroundJob.shape.state,
  failure: described(z.nullable(z.string()), {
    example: 'Error: the store does not answer',
    description: 'Why the last try failed',
  }),
})

const ownRun = component(
  'OwnRun',
  z.object({
    place: described(z.string(), { example: '/mnt/backup/holdfast', description: 'Where the backup is' }),
    taken_at: described(optionalTimestamp, {
      description: 'The moment that the last one has; null where there is none',
    }),
    ended_at: optionalTimestamp,
    files: described(z.int(), {
      example: 1200,
      description: 'Files of the backup; of a rehearsal those that were read back',
    }),
    bytes: described(sizeField, { example: 73_400_320 }),
    wrong: described(z.int(), {
      example: 0,
      description: 'Contents that the backup lacks; of a rehearsal what did not come back as it was uploaded',
    }),
    state: backgroundJob.shape.state,
    failure: described(z.nullable(z.string()), {
      example: 'there is no backup in /mnt/backup/holdfast any more; is it mounted?',
      description: 'Why it could not be done since',
    }),
    failed_at: optionalTimestamp,
  }),
)
export type OwnRun = z.infer<typeof ownRun>

const integrity = component(
  'Integrity',
  z.object({
    scrub: described(z.nullable(scrub), { description: 'null: the server does not read stored bytes again' }),
    contents_damaged: described(z.int(), { description: 'Contents that are damaged, and not sent' }),
    contents_repaired: described(z.int(), {
      example: 1,
      description: 'Contents that were damaged in the last 400 days, and are sound again',
    }),
    backup: described(z.nullable(ownRun), { description: 'null: the server makes no backups by itself' }),
    drill: described(z.nullable(ownRun), { description: 'null: the server rehearses no restore by itself' }),
  }),
)
export type Integrity = z.infer<typeof integrity>

export const integrityAnswer = dataOf(integrity)

const node = component(
  'Node',
  z.object({
    id: nodeId,
    started_at: timestampField,
    host: described(z.string(), { description: 'Name of its machine', example: 'node-1' }),
    address: described(z.string(), {
      description: 'Where it listens, as its settings say',
      example: '192.0.2.11:3000',
    }),
    version: described(z.string(), { description: 'Its program', example: '0.1.0+3174d472a0c1' }),
    is_this: described(z.boolean(), { description: 'Whether it is the one that answers' }),
  }),
)
export type Node = z.infer<typeof node>

export const nodesAnswer = dataOf(z.array(node))

const settingInForce = component(
  'SettingInForce',
  z.object({
    name: described(z.string(), { example: 'HOLDFAST_STORAGE_LIMIT' }),
    value: described(z.string(), { example: '10GB' }),
    is_default: z.boolean(),
    is_secret: z.boolean(),
    description: described(z.string(), {
      example: 'What the files of one account may take together.',
    }),
  }),
)
export type SettingInForce = z.infer<typeof settingInForce>

export const settingsAnswer = dataOf(z.array(settingInForce))

const change = z.object({
  where: described(z.string(), { example: 'nginx' }),
  line: described(z.string(), { example: 'client_max_body_size 0;' }),
})

const template = z.object({
  template: described(z.string(), { example: 'a body of {0} is refused before it comes ({1})' }),
  values: z.array(described(z.string(), { example: '10 GB' })),
})
export type Template = z.infer<typeof template>

const finding = component(
  'Finding',
  z.object({
    check: described(z.string(), { example: 'body-limit', description: 'Stable name of the check' }),
    level: described(z.enum(['ok', 'advice', 'problem', 'unknown']), {
      description: '"unknown": it could not be found out from here',
    }),
    what: described(z.string(), { example: 'a body of 10 GB is refused before it comes (status 413)' }),
    why: described(z.string(), {
      description: 'Why it matters; empty where all is well',
      example: 'Larger files end with an error.',
    }),
    templates: described(z.object({ what: template, why: template }), {
      description: 'The same two with places for what is in them, for translations',
    }),
    changes: described(z.array(change), {
      description: 'Lines to change, and the programs in whose configuration they are',
    }),
  }),
)
export type Finding = z.infer<typeof finding>

const diagnosis = component(
  'Diagnosis',
  z.object({
    sound: described(z.boolean(), { description: 'Whether no finding is a problem' }),
    machine: z.array(finding),
    database: z.array(finding),
    services: z.array(finding),
    address: described(z.array(finding), { description: 'What was seen through the public address' }),
  }),
)
export type Diagnosis = z.infer<typeof diagnosis>

export const diagnosisAnswer = dataOf(diagnosis)
