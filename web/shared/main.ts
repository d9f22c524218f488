import { keepLive } from './live.ts'
import { watchAccountMenu } from './menus/account-menu.ts'
import { sendFormsOnce } from './send-once.ts'

watchAccountMenu()
keepLive()
sendFormsOnce()
