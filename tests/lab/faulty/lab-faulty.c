// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does one thing wrong when loaded, so that the lab can prove that it would notice: modprobe lab-faulty fault=leak
 */

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *fault = "none";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "warn, leak, use-after-free or shift");

static int __init lab_faulty_init(void)
{
	volatile unsigned int bits = 40;
	int i;
	char *memory = kmalloc(100, GFP_KERNEL);

	if (!memory)
		return -ENOMEM;
	/* Several: a pointer to one may well be left somewhere on a stack, and kmemleak then takes it for used. */
	for (i = 0; !strcmp(fault, "leak") && i < 16; i++)
		if (!kmalloc(200, GFP_KERNEL))
			break;
	if (!strcmp(fault, "warn"))
		WARN_ON(1);
	if (!strcmp(fault, "shift"))
		memory[0] = 1U << bits;
	kfree(memory);
	if (!strcmp(fault, "use-after-free"))
		*(volatile char *)memory = 1;
	return 0;
}

static void __exit lab_faulty_exit(void)
{
}

module_init(lab_faulty_init);
module_exit(lab_faulty_exit);
MODULE_DESCRIPTION("A module that does one thing wrong, for tests of the lab");
MODULE_LICENSE("GPL");
