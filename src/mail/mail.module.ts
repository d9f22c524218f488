import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs/jobs.ts'
import { SECOND } from '../domain/clock.ts'
import { createMailSending } from './mail-sending.job.ts'
import { createSmtpTransport } from './smtp.ts'

/** `before` runs before each round of sending and may add mails to the outbox. */
export function createMailModule(
  core: Core,
  before: Pick<Job, 'run'> & { readonly hasWork: () => Promise<boolean> },
): { readonly jobs: readonly Job[]; stop(): void } {
  const { mail, publicUrl } = core.config
  if (mail === null || publicUrl === null) return { jobs: [], stop: () => {} }
  const sending = createMailSending({
    ...core,
    transport: createSmtpTransport(mail, publicUrl, () => core.branding.shown().name),
  })
  return {
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
