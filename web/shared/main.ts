import { keepLive } from './live.ts'
import { watchAccountMenu } from './menus/account-menu.ts'

watchAccountMenu()
keepLive()
