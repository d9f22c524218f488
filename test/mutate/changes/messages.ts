/** Mails and webhooks. */
import { type Change, changesIn, one } from '../change.ts'

export const messages: readonly Change[] = [
  ...changesIn(
    'src/mail/mail-sending.job.ts',
    one('test/cluster/mail/mail-sending.contract.test.ts', 'are sent once each by two nodes that begin'),
    [
      [
        'if (!(await claimMail(db, row, clock.now() + CLAIMED_FOR))) return true',
        'await claimMail(db, row, clock.now() + CLAIMED_FOR)',
      ],
    ],
  ),
  ...changesIn(
    'src/webhooks/webhook-sending.job.ts',
    one('test/cluster/webhooks/webhooks.test.ts', 'an event that fails for good disables no'),
    [['const isDead = due_at === null && now - failingSince >= DEAD_FOR', 'const isDead = due_at === null']],
  ),
  ...changesIn(
    'src/webhooks/webhook-request.ts',
    one('test/unit/webhooks/webhook-request.test.ts', 'a redirect is an answer, and nobody follows'),
    [["redirect: 'manual'", "redirect: 'follow'"]],
  ),
]
