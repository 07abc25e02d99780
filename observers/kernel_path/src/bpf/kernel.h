/* The few of the kernel's types that the program reads, and of these only what it reads.
 *
 * Where each field really lies, the loader finds out from the running kernel's own type information (CO-RE).
 */
#ifndef MIDDLEMARK_KERNEL_H
#define MIDDLEMARK_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_F_NO_PREALLOC = 1, BPF_SK_STORAGE_GET_F_CREATE = 1, BPF_RB_NO_WAKEUP = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct rtnl_link_ops {
	const char *kind;
};

struct net_device {
	possible_net_t nd_net;
	const struct rtnl_link_ops *rtnl_link_ops;
	int ifindex;
	unsigned short type;
	char name[16];
};

struct sock_common {
	__be16 skc_dport;
	__u16 skc_num;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned int len;
	__u16 transport_header;
	__u16 network_header;
	unsigned char *head;
	unsigned char *data;
};

struct task_struct {
	int pid;
	int tgid;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di;
	unsigned long si;
	unsigned long orig_ax;
};
#define FIRST_ARGUMENT(regs) ((regs)->di)
#define SECOND_ARGUMENT(regs) ((regs)->si)
#define CALL_NUMBER(regs) ((__u32)(regs)->orig_ax)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__s32 syscallno;
};
#define FIRST_ARGUMENT(regs) ((regs)->regs[0])
#define SECOND_ARGUMENT(regs) ((regs)->regs[1])
#define CALL_NUMBER(regs) ((__u32)(regs)->syscallno)
#else
#error "the kernel path is known on x86-64 and arm64 only"
#endif

#pragma clang attribute pop

#endif
