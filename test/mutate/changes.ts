/** Every change that is tried, by the part of the product that it is in. */
import type { Change } from './change.ts'
import { accounts } from './changes/accounts.ts'
import { contents } from './changes/contents.ts'
import { core } from './changes/core.ts'
import { domain } from './changes/domain.ts'
import { downloads } from './changes/downloads.ts'
import { files } from './changes/files.ts'
import { messages } from './changes/messages.ts'
import { pages } from './changes/pages.ts'
import { server } from './changes/server.ts'
import { sharing } from './changes/sharing.ts'
import { stores } from './changes/stores.ts'
import { uploads } from './changes/uploads.ts'
import { worlds } from './changes/worlds.ts'

export const changes: readonly Change[] = [
  ...domain,
  ...core,
  ...server,
  ...files,
  ...accounts,
  ...downloads,
  ...stores,
  ...uploads,
  ...pages,
  ...sharing,
  ...contents,
  ...messages,
  ...worlds,
]
