import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { SECOND } from '../domain/clock.ts'
import { createMailSending } from './mail-sending.job.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createSmtpTransport } from './smtp.ts'

export interface MailPart {
  readonly outbox: Outbox
  readonly jobs: readonly Job[]
  stop(): void
}

/** `before` runs before each round of sending and may add mails to the outbox. */
export function createMailPart(
  core: Core,
  { before }: { before: Pick<Job, 'run'> & { readonly hasWork: () => Promise<boolean> } },
): MailPart {
  const { config, clock, random } = core
  const outbox = createOutbox(clock, random, config.mail?.from.address ?? null)
  if (config.mail === null || config.publicUrl === null) return { outbox, jobs: [], stop: () => {} }
  const sending = createMailSending({
    ...core,
    transport: createSmtpTransport(config.mail, config.publicUrl),
  })
  return {
    outbox,
    jobs: [
      {
        name: 'send mails',
        on: 'one node',
        // Short: a person may be waiting for the mail.
        every: SECOND,
        hasWork: async () => (await before.hasWork()) || (await sending.hasWork()),
        async run(mayGoOn) {
          await before.run(mayGoOn)
          await sending.run(mayGoOn)
        },
      },
    ],
    stop: () => sending.stop(),
  }
}
