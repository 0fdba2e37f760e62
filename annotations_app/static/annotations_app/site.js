// Annotators' pages beside the queue: they send and show what still waits in this browser.
import "./logout.js";
import { pump, showSaving } from "./outbox.js";

pump();
showSaving();
