"""Parameters of the machine, of accounts, and of all else: rows of the table in `schedlab.site.parameters`."""

from __future__ import annotations

from schedlab.cluster.slurm_topology import BLOCKS
from schedlab.site.parameters import Row

_NODES = "tests/cluster/test_slurm_conf.py"
_PLACED = "tests/engine/machine/test_nodes_conformance.py"
_CASES = "tests/engine/machine/test_machines_by_hand.py"
_MEMORY = "tests/engine/machine/test_memory_by_hand.py"
_SITE = "tests/engine/parts/limits/test_site_build.py"
_SHARES = "tests/engine/parts/priority/test_shares_by_hand.py"
_HELD = "tests/engine/machine/test_nodes_site.py"
_BY_HAND = "tests/engine/parts/limits/test_limits_by_hand.py"
_WAYS = "tests/engine/machine/test_ways.py"
_RULES = "tests/engine/slurm/test_rules_by_hand.py"
_SWITCHES = "tests/engine/machine/test_switches_by_hand.py"

DISPLAY = "does not matter to jobs"
PREEMPT = "who gives way to whom, and what becomes of those: CANCEL, REQUEUE and, by partition, SUSPEND"
_PREEMPT = "tests/engine/parts/preemption/test_preemption_by_hand.py"
SUBMISSION = "the records have the jobs that were accepted"
RECORDS = "how jobs are recorded does not matter to them"
MESSAGES = "messages and addresses are not simulated"
TRUST = "who may speak to whom does not matter to recorded jobs"
DAEMONS = "logs, files and daemons do not matter to jobs"
PROCESSES = "what nodes do with processes is in the recorded run times"
ADDRESSES = "addresses do not matter to jobs"
RECORDED = "already part of the recorded run times"
USAGE = "needs the decayed usage of accounts, which is not simulated"

CLIENTS = "what users may ask of the controller does not matter to recorded jobs"
DEVICES = "how devices are found does not matter"
FRONT_ENDS = "front ends start the jobs of other nodes, and are not nodes themselves"
WHICH_CORES = "cores are counted: which ones of a node a job gets does not matter"
SWITCHED_OFF = "nodes are not switched off, so they need no time to come back"

IRRELEVANT = frozenset(
    {
        *(DISPLAY, RECORDS, MESSAGES, TRUST, DAEMONS, PROCESSES, ADDRESSES, SUBMISSION, RECORDED),
        *(CLIENTS, DEVICES, FRONT_ENDS, WHICH_CORES, SWITCHED_OFF),
    }
)
"""Reasons to ignore what does not decide when and where a recorded job starts."""

ROWS: tuple[Row, ...] = (
    # Nodes
    ("slurm.conf", "ClusterName", "modelled", "the name of the cluster", _NODES),
    ("slurm.conf", "NodeName NodeSet PartitionName DownNodes FrontendName", "modelled",
     "see the rows of the options on its line", _NODES),
    ("slurm.conf", "Include", "modelled", "the lines of that file follow", _NODES),
    ("slurm.conf", "DefMemPerCPU DefMemPerNode", "modelled", "what a job gets that asks for no memory", _NODES),
    ("slurm.conf", "MaxMemPerCPU MaxMemPerNode", "approximated", "for partitions that say nothing, see there", _MEMORY),
    ("slurm.conf", "DefMemPerGPU", "approximated", "for partitions that say nothing, see there", _CASES),
    ("slurm.conf", "DefCpuPerGPU JobDefaults", "ignored",
     "records have the cores; without them it is not known whether a job gave its cores", ""),
    ("slurm.conf", "LicenseParameters", "ignored", "licences are those of Licenses", ""),
    ("slurm.conf", "Licenses", "modelled", "jobs that would exceed them are passed over", _BY_HAND),
    ("slurm.conf", "TopologyPlugin", "modelled",
     "topology/tree, and a tree in topology.yaml, is placement=switches; with others, and without, it is "
     "placement=consecutive: nodes side by side",
     _SWITCHES),
    ("slurm.conf", "TopologyParam", "ignored", "switches are obeyed in every choice of nodes", ""),
    ("slurm.conf", "RoutePlugin", "ignored", "messages are not simulated", ""),
    ("slurm.conf", "GresTypes", "modelled", "resources are those of the nodes' lines", _NODES),
    ("slurm.conf", "FastSchedule", "approximated",
     "nodes have what their lines say; under 0 (Slurm up to 19.05), memory that they do not name is not counted",
     _NODES),
    ("SelectType", "select/cons_tres select/cons_res", "modelled",
     "jobs get cores, memory and GPUs, on nodes side by side",
     "tests/engine/machine/test_consecutive.py"),
    ("SelectType", "select/linear", "modelled", "jobs get whole nodes, the first of least weight", _NODES),
    ("SelectType", "select/cray_aries select/cray select/alps select/bluegene select/serial", "approximated",
     "taken for select/cons_tres", ""),
    ("SelectTypeParameters", "CR_CPU_Memory CR_Core_Memory CR_Memory", "modelled", "memory is a resource", _PLACED),
    ("SelectTypeParameters", "CR_Socket CR_Socket_Memory", "approximated", "cores are given, not sockets", ""),
    ("SelectTypeParameters", "CR_CPU CR_Core CR_ONE_TASK_PER_CORE", "modelled", "cores or their threads are given",
     _NODES),
    ("SelectTypeParameters", "CR_Pack_Nodes", "modelled", "jobs get the same nodes and cores with it", _WAYS),
    ("SelectTypeParameters", "CR_LLN", "modelled", "jobs get the least loaded nodes, as if each partition had LLN=YES",
     _WAYS),
    ("SelectTypeParameters", "CR_CORE_DEFAULT_DIST_BLOCK CR_ENHANCED_PREFERRED_CORES", "ignored", WHICH_CORES, ""),
    ("SelectTypeParameters", "ENFORCE_BINDING_GRES ONE_TASK_PER_SHARING_GRES LL_SHARED_GRES "
     "MULTIPLE_SHARING_GRES_PJ OTHER_CONS_RES OTHER_CONS_TRES NHC_NO NHC_NO_STEPS CR_NO_DIST_TOPO_BLOCK", "ignored",
     "the placement rule is an option of the simulation", ""),
    ("NodeName", "NodeName CPUs Procs Boards Sockets SocketsPerBoard CoresPerSocket ThreadsPerCore CoreSpecCount "
     "CpuSpecList", "modelled", "cores that jobs can have, as slurmctld derives them", _NODES),
    ("NodeName", "RealMemory MemSpecLimit", "modelled", "memory that jobs can have; without RealMemory, 1 MiB", _NODES),
    ("NodeName", "Gres", "modelled", "GPUs by type; of generic resources, GPUs are counted", _NODES),
    ("NodeName", "Feature Features", "modelled", "for constraints", _NODES),
    ("NodeName", "Weight", "modelled", "nodes of lower weight first", _PLACED),
    ("NodeName", "State", "approximated",
     "FUTURE: not there; DOWN, DRAIN, FAIL: in no partition; all others are up from the beginning", _NODES),
    ("NodeName", "Reason", "ignored", DISPLAY, ""),
    ("NodeName", "NodeAddr NodeHostname Port BcastAddr", "ignored", ADDRESSES, ""),
    ("NodeName", "TmpDisk", "ignored", "disks are not a resource here", ""),
    ("NodeName", "SuspendTime", "ignored", "nodes are not switched off", ""),
    ("NodeName", "Topology", "ignored", "where a node is, topology.yaml says", ""),
    ("NodeName", "TRESWeights", "ignored", "priorities do not depend on TRES", ""),
    ("NodeName", "CpuBind MCSLabel RestrictedCoresPerGPU", "ignored", "cores are not bound", ""),
    ("NodeSet", "NodeSet Nodes Feature", "modelled", "nodes of partitions", _NODES),
    ("DownNodes", "DownNodes Reason State", "ignored", "all nodes are up at the beginning", ""),
    ("FrontendName", "FrontendName FrontendAddr Port Reason State AllowGroups AllowUsers DenyGroups DenyUsers",
     "ignored", FRONT_ENDS, ""),
    ("gres.conf", "Name NodeName Type Count File MultipleFiles", "modelled", "GPUs of nodes", _NODES),
    ("gres.conf", "AutoDetect Cores CPUs Flags Links", "ignored", DEVICES, ""),
    ("topology.conf", "SwitchName Switches Nodes", "modelled", "leaf switches of nodes, and the switches above them",
     _SWITCHES),
    ("topology.conf", "LinkSpeed BlockName BlockSizes Aggregated", "ignored", "trees of switches are read", ""),
    ("topology.yaml", "topology cluster_default tree switches switch children nodes", "modelled",
     "the topology of the cluster, its leaf switches with their nodes, and the switches above them; topology.conf "
     "beside it is not read", _NODES),
    ("topology.yaml", "block block_sizes blocks", "ignored", BLOCKS, ""),
    ("topology.yaml", "flat", "modelled", "no switches: nodes side by side", _NODES),
    # Partitions
    ("PartitionName", "PartitionName Nodes", "modelled", "on which nodes its jobs run", _PLACED),
    ("PartitionName", "Default", "modelled", "jobs that name no partition go there", _PLACED),
    ("PartitionName", "MaxTime", "modelled", "jobs that ask for more do not run in this partition", _SITE),
    ("PartitionName", "DefaultTime", "modelled", "the request of jobs that give no time", "tests/site/test_jobs.py"),
    ("PartitionName", "MinNodes MaxNodes", "approximated",
     "for all jobs; some wait in Slurm although there are nodes enough, four of 300 in a test",
     "tests/engine/machine/test_maximum_by_hand.py"),
    ("PartitionName", "DefMemPerCPU DefMemPerNode", "modelled", "what a job gets that asks for no memory", _NODES),
    ("PartitionName", "MaxMemPerCPU", "approximated",
     "jobs with more memory get more cores, those of several partitions in each what it says (in Slurm, what the first "
     "named says); cores that a lower value has brought stay in the records",
     _MEMORY),
    ("PartitionName", "MaxMemPerNode", "modelled", "a job beyond it does not run there", _MEMORY),
    ("PartitionName", "MaxCPUsPerNode", "modelled",
     "how many cores of a node its jobs may hold together, whole nodes only if they have no more", _CASES),
    ("PartitionName", "AllowAccounts DenyAccounts", "approximated",
     "who has it as an option; an account with all below it, as in newer versions (in 22.05, itself alone)", _SITE),
    ("PartitionName", "AllowQos DenyQos", "modelled", "who has it as an option", _SITE),
    ("PartitionName", "AllowGroups", "ignored", "groups of users are not known", ""),
    ("PartitionName", "State", "modelled", "only jobs of partitions that are up start", _SITE),
    ("PartitionName", "PriorityTier", "approximated",
     "jobs of a higher tier go first; a job of several partitions has its turns in all of them at its highest tier",
     _HELD),
    ("PartitionName", "PriorityJobFactor", "modelled", "the factor of partition= of multifactor",
     "tests/site/test_scheduling.py"),
    ("PartitionName", "Priority", "approximated",
     "deprecated: sets PriorityTier and PriorityJobFactor at once, modelled as these two", _NODES),
    ("PartitionName", "QOS", "modelled", "its limits hold for jobs of the partition", _HELD),
    ("PartitionName", "OverSubscribe Shared", "approximated",
     "EXCLUSIVE: whole nodes; FORCE and YES: jobs do not share cores", _NODES),
    ("PartitionName", "ExclusiveUser", "ignored", "kept, not applied", ""),
    ("PartitionName", "PreemptMode GraceTime", "approximated", PREEMPT, _PREEMPT),
    ("PartitionName", "OverTimeLimit", "modelled",
     "how long its jobs may run beyond their requests; of several partitions, the first counts",
     "tests/engine/slurm/test_overtime_by_hand.py"),
    ("PartitionName", "TRESBillingWeights", "modelled",
     "usage and limits count the weighted sum; fair share bills whole nodes for what they have, limits for the GPUs "
     "that all nodes of the partition have", "tests/engine/parts/limits/test_site_by_hand.py"),
    ("PartitionName", "LLN", "modelled", "its jobs get the least loaded nodes", _WAYS),
    ("PartitionName", "ReqResv", "ignored", "jobs are in the reservation that they ask for", ""),
    ("PartitionName", "SelectTypeParameters MaxCPUsPerSocket CpuBind", "ignored", "one rule for all partitions", ""),
    ("PartitionName", "DefMemPerGPU", "approximated",
     "what a job with GPUs gets that asks for no memory; in Slurm 22.05, one that asks for less waits until that is "
     "free",
     _CASES),
    ("PartitionName", "DefCpuPerGPU JobDefaults", "ignored",
     "records have the cores; without them it is not known whether a job gave its cores", ""),
    ("PartitionName", "Alternate", "ignored", "jobs are not sent to other partitions", ""),
    ("PartitionName", "Exclusive", "ignored",
     "of Slurm 26.05, and not applied: OverSubscribe=EXCLUSIVE gives whole nodes", ""),
    ("PartitionName", "Topology", "ignored", "the default topology of the cluster holds for all partitions", ""),
    ("PartitionName", "Hidden RootOnly DisableRootJobs AllocNodes ExclusiveTopo", "ignored", DISPLAY, ""),
    ("PartitionName", "PowerDownOnIdle SuspendTime SuspendTimeout ResumeTimeout", "ignored",
     "nodes are not switched off", ""),
    # Accounts
    ("AccountingStorageEnforce", "limits safe all", "modelled",
     "limits of accounts and QOS hold; without them, ends=lost of multifactor", _HELD),
    ("AccountingStorageEnforce", "associations qos wckeys nojobs nosteps none 0 1 2", "ignored", SUBMISSION, ""),
    ("sacctmgr", "Name Names User Account Accounts Parent Cluster Clusters DefaultAccount Partition Partitions",
     "modelled", "who is in which account", "tests/cluster/test_limits.py"),
    ("sacctmgr", "QOS QosLevel DefaultQOS", "modelled", "the QOS of jobs that name none", _SITE),
    ("sacctmgr", "Fairshare Shares", "modelled", "shares of accounts and users for fairshare= of multifactor", _SHARES),
    ("sacctmgr", "UsageFactor", "modelled", "factor by which the usage of a QOS' jobs counts for fair share", _SHARES),
    ("sacctmgr", "Priority", "modelled", "the factor of qos= of multifactor", "tests/site/test_scheduling.py"),
    ("sacctmgr", "GrpTRES GrpCPUs GrpNodes GrpMem GrpJobs MaxTRESPerUser MaxTRESPU MaxCPUsPerUser MaxNodesPerUser "
     "MaxTRESPerAccount MaxTRESPA MaxJobs MaxJobsPerUser MaxJobsPU MaxJobsPerAccount MaxJobsPA", "modelled",
     "held at every start", _HELD),
    ("sacctmgr", "GrpTRESRunMins GrpCPURunMins MaxTRESRunMinsPerUser MaxTRESRunMinsPU MaxTRESRunMinsPerAccount "
     "MaxTRESRunMinsPA", "modelled",
     "held at every start; running jobs count with what is left until their expected ends, in full minutes that are "
     "counted down with the priorities", _BY_HAND),
    ("sacctmgr", "MaxTRES MaxTRESPerJob MaxTRESPJ MaxCPUs MaxCPUsPerJob MaxNodes MaxNodesPerJob MaxTRESMins "
     "MaxTRESMinsPerJob MaxCPUMins MaxWall MaxWallDurationPerJob MaxWallDurationPJ MaxWallPJ MinTRES MinTRESPerJob "
     "MinCPUs MinCPUsPerJob", "modelled", "a job beyond it does not run: it is left out and counted", _SITE),
    ("sacctmgr", "MaxTRESPerNode", "modelled", "a job beyond it does not run: it is left out and counted",
     "tests/engine/parts/limits/test_limits_per_node.py"),
    ("sacctmgr", "MinPrioThreshold", "ignored", "not applied", ""),
    ("sacctmgr", "GrpTRESMins GrpCPUMins GrpWall UsageThreshold UsageThres RawUsage", "ignored", USAGE, ""),
    ("sacctmgr", "GrpSubmitJobs GrpSubmit MaxSubmitJobs MaxSubmit MaxSubmitJobsPerUser MaxSubmitJobsPU MaxSubmitPU "
     "MaxSubmitJobsPerAccount MaxSubmitJobsPA", "modelled",
     "jobs beyond it are submitted again as soon as it allows, an array or a heterogeneous job as a whole", _BY_HAND),
    ("sacctmgr", "GrpJobsAccrue MaxJobsAccrue MaxJobsAccruePerUser MaxJobsAccruePerAccount", "ignored",
     "every waiting job ages", ""),
    ("sacctmgr", "LimitFactor", "ignored", "limits count as they are", ""),
    ("sacctmgr", "Preempt PreemptMode PreemptExemptTime GraceTime", "approximated", PREEMPT, _PREEMPT),
    ("sacctmgr", "Description Organization AdminLevel Admin Coordinator WithAssoc Classification Format Email "
     "DefaultWCKey Comment Set Where", "ignored", DISPLAY, ""),
    ("sacctmgr", "Flags", "ignored", "see the rows of the flags of a QOS", ""),
    ("sacctmgr QOS flags", "OverPartQOS", "modelled", "its limits are before those of the partition's QOS", _BY_HAND),
    ("sacctmgr QOS flags", "DenyOnLimit", "modelled",
     "a job beyond a limit of its own does not run in any case, and submissions are always refused", _BY_HAND),
    ("sacctmgr QOS flags", "NoReserve", "approximated",
     "no reservations in backfill passes; where jobs preempt others, Slurm also plans its jobs as if they ran a minute",
     _RULES),
    ("sacctmgr QOS flags", "PartitionTimeLimit", "approximated",
     "its jobs may ask for more time than their partition allows; Slurm's backfill pass tries them with what it allows",
     _RULES),
    ("sacctmgr QOS flags", "PartitionMaxNodes PartitionMinNodes", "modelled",
     "its jobs may ask for more or fewer nodes than their partition allows, if they name a number", _RULES),
    ("sacctmgr QOS flags", "EnforceUsageThreshold NoDecay Relative RequiresReservation UsageFactorSafe", "ignored",
     "not applied", ""),
    # All else
    ("slurm.conf", "AccountingStorageType", "modelled",
     "without slurmdbd there are no limits, and no weight of age and fair share", "tests/site/test_scheduling.py"),
    ("slurm.conf", "AccountingStorageTRES AccountingStoreFlags AccountingStoreJobComment AccountingStorageBackupHost "
     "AccountingStorageHost AccountingStorageExternalHost AccountingStorageParameters AccountingStoragePort "
     "AccountingStorageUser AccountingStoragePass AccountingStorageLoc TrackWCKey JobCompHost JobCompLoc JobCompParams "
     "JobCompPass JobCompPort JobCompType JobCompUser DefaultStorageHost DefaultStorageLoc DefaultStoragePass "
     "DefaultStoragePort DefaultStorageType DefaultStorageUser MaxDBDMsgs PrivateData", "ignored",
     RECORDS, ""),
    ("slurm.conf", "ControlMachine ControlAddr BackupController BackupAddr SlurmctldHost SlurmctldAddr SlurmctldPort "
     "SlurmdPort SrunPortRange CommunicationParameters TreeWidth TCPTimeout MessageTimeout SlurmctldTimeout EioTimeout "
     "BcastExclude BcastParameters MpiDefault MpiParams SwitchType SwitchParameters PMIxParameters", "ignored",
     MESSAGES, ""),
    ("slurm.conf", "AuthAltParameters AuthAltTypes AuthInfo AuthType CredType CryptoType JobCredentialPrivateKey "
     "JobCredentialPublicCertificate HashPlugin CertmgrType CertmgrParameters CertgenType CertgenParameters TLSType "
     "TLSParameters SlurmctldHttpAuthParameters SlurmdHttpAuthParameters SlurmUser "
     "SlurmdUser UsePAM AllowSpecResourcesUsage DisableRootJobs GroupUpdateForce GroupUpdateTime CacheGroups",
     "ignored",
     TRUST, ""),
    ("slurm.conf", "DebugFlags LogTimeFormat PluginDir PlugStackConfig SchedulerAuth SchedulerPort SchedulerRootFilter "
     "SlurmSchedLogFile SlurmSchedLogLevel SlurmctldDebug SlurmctldLogFile SlurmctldParameters SlurmctldPidFile "
     "SlurmctldPlugstack SlurmctldSyslogDebug SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdSpoolDir "
     "SlurmdSyslogDebug SlurmrestdOptions StateSaveLocation TmpFS MailDomain MailProg ReconfigFlags CheckpointType "
     "MetricsType MetricsParameters MetricsAuthUsers HttpParserType "
     "JobCheckpointDir SlurmEventHandler SlurmEventHandlerLogfile SlurmEventHandlerPollInterval SlurmctldPrimaryOnProg "
     "SlurmctldPrimaryOffProg ScronParameters", "ignored", DAEMONS, ""),
    ("slurm.conf", "AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType "
     "AcctGatherNodeFreq AcctGatherProfileType BatchStartTimeout CompleteTimeout CoreSpecPlugin CpuFreqDef "
     "CpuFreqGovernors CpusPerTask DataParserParameters Epilog EpilogMsgTime EpilogSlurmctld EpilogTimeout "
     "ExtSensorsFreq ExtSensorsType GetEnvTimeout GpuFreqDef HealthCheckInterval HealthCheckNodeState "
     "HealthCheckTimeout "
     "HealthCheckProgram InactiveLimit InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams "
     "JobAcctGatherType JobContainerType JobFileAppend KillOnBadExit LaunchParameters LaunchType MemLimitEnforce "
     "NamespaceType NodeFeaturesPlugins PrEpParameters PrEpPlugins ProctrackType Prolog PrologEpilogTimeout "
     "PrologFlags PrologSlurmctld PrologTimeout PropagatePrioProcess PropagateResourceLimits "
     "PropagateResourceLimitsExcept "
     "RebootProgram ResumeWait ReturnToService SallocDefaultCommand SlurmdTimeout SrunEpilog SrunProlog "
     "StepdStartTimeout TaskEpilog TaskPlugin TaskPluginParam TaskProlog UnkillableStepProgram UnkillableStepTimeout "
     "VSizeFactor WaitTime X11Parameters UrlParserType", "ignored",
     PROCESSES, ""),
)  # fmt: skip
