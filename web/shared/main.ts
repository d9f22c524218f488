import { keepLive } from './live.ts'
import { watchAccountMenu } from './menus/account-menu.ts'
import { watchPasswordFields } from './password-fields.ts'
import { sendFormsOnce } from './send-once.ts'

watchAccountMenu()
keepLive()
sendFormsOnce()
watchPasswordFields()
