/** The kinds of question that paylink asks, by name: the bundle then leaves out the other prompts of the package. */
export { confirm, input, password, select } from "@inquirer/prompts";
