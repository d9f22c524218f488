import { watchAccountMenu } from './menus/account-menu.ts'

watchAccountMenu()
